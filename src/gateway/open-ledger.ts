import { LedgerWriter } from '../state/ledger/writer/ledger-writer.js';
import { withFlushedUsage, type OtherLedgers } from '../state/store/read-your-writes-ledger.js';
import { RefusedRows } from '../state/ledger/writer/refused-rows.js';
import { Spool } from '../state/ledger/spool/spool.js';
import { folderFault } from '../state/ledger/spool/writable.js';
import type { Clock, Logger, Json } from '../plugin/index.js';
import type { Live } from '../plugin/core.js';
import type { WholeStore } from '../state/store/contract/store.js';
import { refreshLimits } from './used-limits.js';
import { ClusterQuery } from '../state/live/cluster-query.js';
import type { WaitingQuery, WaitingUse } from '../state/ledger/writer/waiting-sums.js';

interface Parts {
  readonly store: WholeStore;
  readonly live: Live;
  readonly log: Logger;
  readonly clock: Clock;
  /** Folder of the spool; undefined: there is none. */
  readonly folder: string | undefined;
}

interface OpenedLedger {
  readonly ledger: LedgerWriter;
  readonly refusedRows: Pick<RefusedRows, 'count'>;
  /** Flushes the ledgers of the other instances, as far as they answer. */
  readonly flushOthers: () => Promise<void>;
  /** Store whose sums include the rows that wait here. */
  readonly store: WholeStore;
  /** Brings rows of processes that have ended to the store, before requests are served. */
  recover(): Promise<void>;
}

/** Opens the writer of the ledger, with its spool. */
export async function openLedger({ folder, ...parts }: Parts): Promise<OpenedLedger> {
  const { store, live, log, clock } = parts;
  if (folder !== undefined) await warnOfUnwritable(folder, log);
  const refusedRows = new RefusedRows({ ledger: store.ledger, folder, log });
  const ledger = new LedgerWriter({
    ledger: refusedRows,
    log,
    clock,
    onRecovered: (holders) => refreshLimits(holders, { ...parts, now: clock.now, store: flushed }),
    ...(folder !== undefined && { spool: new Spool({ folder }) }),
  });
  const others = otherLedgers({ live, ledger });
  const flushed = withFlushedUsage(store, ledger, others);
  return {
    ledger,
    refusedRows,
    store: flushed,
    flushOthers: () => others.flush(),
    recover: () => ledger.recover(() => others.spools()),
  };
}

/** Warns of an unusable spool at the start, as it is needed only once the store is down. */
async function warnOfUnwritable(folder: string, log: Parts['log']): Promise<void> {
  const fault = await folderFault(folder);
  if (fault === undefined) return;
  log.warn(
    { folder },
    `The ledger spool cannot be written, so rows are lost while the store is down: ${fault}, or set ledger.spool.`,
  );
}

interface OtherParts {
  readonly live: Live;
  readonly ledger: Pick<LedgerWriter, 'flush' | 'waitingOf' | 'spoolName'>;
}

/** Question to the other instances; without a query they only identify themselves. */
interface Question {
  readonly waiting?: WaitingQuery;
}

interface Answer {
  readonly spool: string | null;
  readonly waiting?: WaitingUse;
}

/**
 * Lets this instance flush its ledger on request of another one, and report its waiting rows. Returns the functions
 * that ask all others, and wait up to half a second for their answers, since requests wait for a meter that is being
 * opened.
 */
export function otherLedgers({ live, ledger }: OtherParts): OtherLedgers {
  const answer = async (asked: Json | undefined): Promise<Json> => {
    const question = asked as Question | undefined; // as `ask` sends it
    if (!question) return ledger.flush().then(() => true);
    const { waiting } = question;
    const spool = ledger.spoolName ?? null;
    const state: Answer = waiting ? { spool, waiting: await ledger.waitingOf(waiting) } : { spool };
    return state as unknown as Json; // numbers and texts
  };
  const written = new ClusterQuery<Json, Json>(live, { topic: 'ledger/written', answer, timeoutMs: 500 });
  const ask = async (question: Question): Promise<readonly Answer[]> => {
    const answers = await written.ask(question as unknown as Json); // numbers and texts
    return answers.filter((each) => each !== true) as unknown as readonly Answer[]; // `true`: a former version
  };
  return {
    flush: async () => void (await written.ask()),
    waitingOf: async (waiting) => (await ask({ waiting })).flatMap((each) => each.waiting ?? []),
    spools: async () => new Set((await ask({})).flatMap(({ spool }) => spool ?? [])),
  };
}
