import { ledgerTokens, type Trace } from '../../plugin/index.js';
import { defaultPipeline, type SlotStatus } from '../../plugin/core.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';
import { answerParts } from './answer-parts.js';
import type { Received } from '../../engine/http/connection/inner-caller.js';
import type { RemoteQuestions } from './remotes.js';
import { isModelCall, type DryOutcome, type OutgoingCall } from './outcome.js';

/** Record of the gateway about a request. */
export interface Settled {
  readonly trace: Trace;
  readonly record: RequestRecord;
  readonly row: LedgerRow | undefined;
}

/** Parts of an outcome beside its answer and its record. */
export interface Surroundings {
  readonly outgoing: readonly OutgoingCall[];
  readonly remotes: RemoteQuestions;
  /** Rows of the calls that stages have made meanwhile. */
  readonly calls: readonly LedgerRow[];
  readonly refused: readonly string[];
  /** False for one of several concurrent requests, which share `outgoing`. */
  readonly isAlone: boolean;
  readonly slots: readonly SlotStatus[];
  readonly log: DryOutcome['log'];
}

/** Outcome of a request; one that the HTTP server itself has refused has no record. */
export function outcomeOf(
  received: Received,
  settled: Settled | undefined,
  { outgoing, remotes, calls, refused, isAlone, slots, log }: Surroundings,
): DryOutcome {
  const { status, headers, events, complete, firstEventMs, durationMs } = received;
  const upstream = isAlone ? outgoing.findLast(isOwnCall) : undefined;
  return {
    status,
    headers,
    ...answerParts(received, settled?.record.format ?? ''),
    events,
    complete,
    ...recorded(settled, (row) => calls.filter((call) => isCallOf(call, row, isAlone))),
    ...(upstream && { upstream: upstream.body }),
    outgoing,
    remotes,
    dropped: listed(headers['x-gw-dropped']),
    slots: Object.fromEntries(slots.map((slot) => [slot.id, slot])),
    ...(firstEventMs !== undefined && { firstEventMs }),
    durationMs,
    refusedConnections: refused,
    log,
  };
}

/** True for a call of the model by the request itself, rather than by a stage. */
function isOwnCall(call: OutgoingCall): boolean {
  return call.label === undefined && isModelCall(call);
}

/** True for a call by `host.call` for this request; for one of no request if there is one request alone. */
function isCallOf({ parent }: LedgerRow, { atMs, id }: LedgerRow, isAlone: boolean): boolean {
  return parent === undefined ? isAlone : parent === `${atMs}.${id}`;
}

type Recorded = Pick<
  DryOutcome,
  'pipeline' | 'attempts' | 'calls' | 'stages' | 'skipped' | 'usage' | 'cost' | 'ledger'
> &
  Partial<Pick<DryOutcome, 'slot' | 'model' | 'answeredBy'>>;

function recorded(settled: Settled | undefined, callsOf: (row: LedgerRow) => readonly LedgerRow[]): Recorded {
  if (!settled)
    return { pipeline: defaultPipeline, attempts: 0, calls: [], stages: [], skipped: [], ...noCounts };
  const { trace, record, row } = settled;
  const { slot, model, answeredBy, attempts = 0 } = record;
  return {
    ...(slot !== undefined && { slot }),
    ...(model !== undefined && { model }),
    ...(answeredBy !== undefined && { answeredBy }),
    pipeline: trace.pipeline,
    attempts,
    calls: trace.calls.map(({ slot, model, code }) => ({
      slot,
      ...(model !== undefined && { model }),
      ...(code !== undefined && { code }),
    })),
    stages: trace.stages.map(({ stage }) => stage),
    skipped: trace.stages.flatMap(({ stage, skipped }) => (skipped ? [stage] : [])),
    usage: ledgerTokens(record),
    cost: costOf(row),
    ledger: row ? [row, ...callsOf(row)] : [],
  };
}

/** Cost of a request; none without a row, as for requests without a model call. */
function costOf(row: LedgerRow | undefined): DryOutcome['cost'] {
  if (!row) return noCost;
  const { cost } = row;
  return cost
    ? { shown: cost.shown / 1e9, billed: cost.billed / 1e9 }
    : { shown: 'unknown', billed: 'unknown' };
}

const noCost = { shown: 0, billed: 0 };
const noCounts = { usage: ledgerTokens({ billed: {}, masked: {} }), cost: noCost, ledger: [] };

function listed(header: string | undefined): readonly string[] {
  return header ? header.split(',').map((path) => path.trim()) : [];
}
