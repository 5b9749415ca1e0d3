import type { WholeStore } from '../plugin/internal.js';
import type { LedgerWriter } from './ledger-writer.js';

/**
 * Store with read-your-writes sums: the ledger queue is flushed before they are read. `flushOthers` flushes those
 * of the other instances.
 */
export function withFlushedUsage(
  store: WholeStore,
  writer: Pick<LedgerWriter, 'flush'>,
  flushOthers: () => Promise<void>,
): WholeStore {
  const { ledger } = store;
  return {
    ...store,
    get isDown() {
      return store.isDown;
    },
    ledger: {
      append: (rows) => ledger.append(rows),
      requests: (filter, page) => ledger.requests(filter, page),
      get: (row) => ledger.get(row),
      async usage(query) {
        await Promise.all([writer.flush(), query.everywhere === true && flushOthers()]);
        return ledger.usage(query);
      },
      async latency(query) {
        await writer.flush();
        return ledger.latency(query);
      },
      prune: (beforeMs, limit) => ledger.prune(beforeMs, limit),
    },
    close: () => store.close(),
  };
}
