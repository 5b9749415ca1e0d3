import { ClusterQuery } from '../live/cluster-query.js';
import type { LedgerWriter } from '../ledger/ledger-writer.js';
import type { Live } from '../plugin/internal.js';

interface Parts {
  readonly live: Live;
  readonly ledger: Pick<LedgerWriter, 'flush'>;
}

/**
 * Lets this instance flush its ledger when another one asks for it. Returns the function that asks all others, and
 * waits until they have done so, or for half a second: a meter is opened meanwhile, for which requests wait.
 */
export function ledgerFlush({ live, ledger }: Parts): () => Promise<void> {
  const flushed = new ClusterQuery(live, {
    topic: 'ledger/written',
    answer: () => ledger.flush().then(() => true as const),
    timeoutMs: 500,
  });
  return async () => void (await flushed.ask());
}
