import type { UsageQuery, UsageSum } from '../../plugin/core.js';
import type { Ledger } from '../ledger/contract.js';
import type { WholeStore } from './contract/store.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { addSums, sumOf } from '../ledger/sums.js';
import { bothWaiting, type WaitingQuery, type WaitingUse } from '../ledger/writer/waiting-sums.js';
import { dayMs } from '../../kit/time/clock.js';

/** Ledgers of the other instances, as far as they answer. */
export interface OtherLedgers {
  /** Requests them to write their rows. */
  flush(): Promise<void>;
  /** Rows of a key or team that wait there and that the store does not accept now. */
  waitingOf(query: WaitingQuery): Promise<readonly WaitingUse[]>;
  /** Names of their spools. */
  spools(): Promise<ReadonlySet<string>>;
}

type Writer = Pick<LedgerWriter, 'flush' | 'waitingOf'>;

/** Store with read-your-writes sums: the ledger queue is flushed before they are read. */
export function withFlushedUsage(store: WholeStore, writer: Writer, others: OtherLedgers): WholeStore {
  const { ledger } = store;
  const wholeUsage = usageWithWaiting(ledger, writer, others);
  return {
    ...store,
    get isDown() {
      return store.isDown;
    },
    ledger: {
      append: (rows) => ledger.append(rows),
      requests: (filter, page) => ledger.requests(filter, page),
      get: (row) => ledger.get(row),
      find: (rows) => ledger.find(rows),
      async usage(query) {
        const waiting = waitingQuery(query);
        if (waiting) return wholeUsage(query, waiting);
        await Promise.all([writer.flush(), Boolean(query.everywhere) && others.flush()]);
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

/**
 * Sums of the ledger with the waiting rows of all instances. To count each row once, asks the instances before and
 * after the ledger until both answers agree, less the stored rows whose answer did not arrive; rejects if they still
 * differ.
 */
function usageWithWaiting(ledger: Pick<Ledger, 'usage' | 'find'>, writer: Writer, others: OtherLedgers) {
  const ask = async (query: WaitingQuery): Promise<readonly WaitingUse[]> => {
    const [here, elsewhere] = await Promise.all([writer.waitingOf(query), others.waitingOf(query)]);
    return [here, ...elsewhere];
  };
  const look = async (query: WaitingQuery): Promise<readonly WaitingUse[]> =>
    Promise.all((await ask(query)).map((use) => withoutKnown(use, ledger)));
  return async (query: UsageQuery, waiting: WaitingQuery): Promise<readonly UsageSum[]> => {
    if (query.everywhere === 'waiting') return withWaiting([], await ask(waiting));
    let before = await look(waiting);
    for (let tries = 0; tries < maxTries; tries += 1) {
      const sums = await ledger.usage(query);
      if (before.every(({ sum }) => sum === null)) return sums;
      const after = await look(waiting);
      if (areSame(before, after)) return withWaiting(sums, after);
      before = after;
    }
    throw new Error('Delayed rows are being written to the ledger: its sum is not known yet.');
  };
}

/** Use without the unconfirmed rows that the ledger has. */
async function withoutKnown(
  { sum, version, unconfirmed = [] }: WaitingUse,
  ledger: Pick<Ledger, 'find'>,
): Promise<WaitingUse> {
  if (!sum || unconfirmed.length === 0) return { sum, version };
  const known = await ledger.find(unconfirmed);
  const left = known.reduce((rest, row) => addSums(rest, sumOf(row), -1), sum);
  return { sum: left.requests === 0 ? null : left, version };
}

/** Days of a key or team that a query requests in all instances, as one sum. */
function waitingQuery({
  everywhere,
  by,
  fromMs,
  toMs,
  stepMs,
  keyId,
  where,
}: UsageQuery): WaitingQuery | undefined {
  if (!everywhere || by !== null || stepMs < toMs - fromMs) return undefined;
  if (fromMs % dayMs !== 0 || toMs % dayMs !== 0) return undefined;
  const { team, ...others } = where ?? {};
  if (Object.keys(others).length > 0 || (keyId !== undefined && team !== undefined)) return undefined;
  if (keyId !== undefined) return { fromMs, toMs, keyId };
  return team === undefined ? undefined : { fromMs, toMs, team };
}

function areSame(before: readonly WaitingUse[], after: readonly WaitingUse[]): boolean {
  if ([...before, ...after].some(({ version }) => version === null)) return false;
  const [one, other] = [before, after].map((uses) => uses.map((use) => JSON.stringify(use)).toSorted());
  return String(one) === String(other);
}

/** Sums with that of the waiting rows, in the only bucket. */
function withWaiting(sums: readonly UsageSum[], uses: readonly WaitingUse[]): readonly UsageSum[] {
  const { sum } = uses.reduce((one, other) => bothWaiting(one, other));
  const [known] = sums;
  if (!sum) return sums;
  return [known ? addSums(known, sum) : sum];
}

const maxTries = 3;
