import { ClusterQuery } from '../state/live/cluster-query.js';
import type { LedgerWriter } from '../state/ledger/ledger-writer.js';
import type { OtherLedgers } from '../state/store/read-your-writes-ledger.js';
import type { WaitingQuery, WaitingUse } from '../state/ledger/waiting-sums.js';
import type { Json } from '../plugin/index.js';
import type { Live } from '../plugin/core.js';

interface Parts {
  readonly live: Live;
  readonly ledger: Pick<LedgerWriter, 'flush' | 'waitingOf' | 'spoolName'>;
}

/** Question to the other instances; without a query they say who they are. */
interface Question {
  readonly waiting?: WaitingQuery;
}

interface Answer {
  readonly spool: string | null;
  readonly waiting?: WaitingUse;
}

/**
 * Lets this instance flush its ledger when another one asks for it, and say what still waits here. Returns the
 * functions that ask all others, and wait until they have answered, or for half a second: a meter is opened
 * meanwhile, for which requests wait.
 */
export function otherLedgers({ live, ledger }: Parts): OtherLedgers {
  const answer = async (asked: Json | undefined): Promise<Json> => {
    const question = asked as Question | undefined; // as `ask` sends it
    if (!question) return ledger.flush().then(() => true);
    const { waiting } = question;
    const spool = ledger.spoolName ?? null;
    const told: Answer = waiting ? { spool, waiting: await ledger.waitingOf(waiting) } : { spool };
    return told as unknown as Json; // numbers and texts
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
