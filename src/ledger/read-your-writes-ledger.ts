import type { Store } from '../plugin/index.js';
import type { LedgerWriter } from './ledger-writer.js';

/** The store as seen by those who count on its sums: what waits to be written is written before they are made. */
export function withFlushedUsage(store: Store, writer: Pick<LedgerWriter, 'flush'>): Store {
  const { ledger } = store;
  return {
    ...store,
    get isAway() {
      return store.isAway;
    },
    ledger: {
      append: (rows) => ledger.append(rows),
      requests: (filter, page) => ledger.requests(filter, page),
      get: (row) => ledger.get(row),
      async usage(query) {
        await writer.flush();
        return ledger.usage(query);
      },
      prune: (beforeMs, limit) => ledger.prune(beforeMs, limit),
    },
    close: () => store.close(),
  };
}
