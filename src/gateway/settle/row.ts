import type { AppendedRow, LedgerTrace } from '../../state/ledger/contract.js';
import type { RequestTrace } from '../../engine/trace/request-trace.js';
import type { GatewayState, Trace } from '../../plugin/index.js';
import type { Writable } from '../../kit/writable.js';
import type { RequestRecord } from './request-record.js';
import type { RequestMoney } from './money.js';

/** Request, or call of a stage, that has ended. */
export interface SettledWork {
  readonly startedMs: number;
  readonly state: Pick<GatewayState, 'requestId' | 'operation' | 'format'> &
    Partial<Pick<GatewayState, 'caller' | 'picker'>> & { readonly trace: RequestTrace };
}

/** Ledger row of a model request whose response has closed; undefined for every other request. */
export function ledgerRowOf(
  { state, startedMs }: SettledWork,
  record: RequestRecord,
  { billed, shown, cost, additions }: RequestMoney,
  sessionName: (stickyKey: string) => string,
): Writable<AppendedRow> | undefined {
  const { requestId, caller, operation, format, trace, picker } = state;
  const { firstEventAtMs, tags } = trace;
  if (operation !== 'generate' || !caller) return undefined;
  const { slot, model, answeredBy, code, status, outcome } = record;
  // Optional fields are assigned last: spreading them in would take as long as all the rest.
  const row: Writable<AppendedRow> = {
    id: trace.rowId,
    atMs: startedMs,
    requestId,
    keyId: caller.keyId,
    format,
    pipeline: trace.pipeline,
    status,
    failed: outcome === 'failed' || (status >= 400 && outcome !== 'abandoned'),
    streamed: record.delivery === 'stream',
    attempts: record.attempts ?? 0,
    durationMs: record.ms,
    billed,
    shown,
    trace: traceOf(trace, answeredBy),
  };
  if (caller.team !== undefined) row.team = caller.team.id;
  if (picker?.stickyKey !== undefined) row.session = sessionName(picker.stickyKey);
  if (slot !== undefined) row.slot = slot;
  if (model !== undefined) row.model = plainText(answeredBy ?? model);
  if (model !== undefined && answeredBy !== undefined) row.askedModel = plainText(model);
  if (code !== undefined) row.code = code;
  if (record.billed['estimated'] === true) row.estimated = true;
  if (cost !== undefined) row.cost = cost;
  if (additions !== undefined) row.additions = additions;
  if (tags !== undefined) row.tags = tags;
  if (firstEventAtMs !== undefined) row.firstEventMs = firstEventAtMs - startedMs;
  if (record.firstTokenMs !== undefined) row.firstTokenMs = record.firstTokenMs;
  if (record.outputMs !== undefined) row.outputMs = record.outputMs;
  if (record.calls.length > 0 || record.queueMs > 0) row.queueMs = record.queueMs;
  return row;
}

/**
 * Trace with a max number of entries: a stage that calls the model in a loop must not make a row of
 * megabytes.
 */
function traceOf({ stages, calls }: Trace, answeredBy: string | undefined): LedgerTrace {
  const traced = {
    stages: stages.slice(0, maxTraced).map(tracedStage),
    calls: calls.slice(0, maxTraced).map(tracedCall),
  };
  return answeredBy === undefined ? traced : { ...traced, answeredBy: plainText(answeredBy) };
}

/** Milliseconds rounded to two decimals, to keep rows small. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function tracedStage({ stage, ms, skipped }: LedgerTrace['stages'][number]): LedgerTrace['stages'][number] {
  const traced = { stage: plainText(stage), ms: rounded(ms) };
  return skipped ? { ...traced, skipped } : traced;
}

function tracedCall({ slot, model, ms, code }: RequestRecord['calls'][number]): LedgerTrace['calls'][number] {
  const traced = { slot, ms: rounded(ms) };
  if (code === undefined && model === undefined) return traced;
  return {
    ...traced,
    ...(model !== undefined && { model: plainText(model) }),
    ...(code !== undefined && { code }),
  };
}

const maxTraced = 100;

/**
 * Removes NUL characters and limits the length: callers and upstreams write these texts, and no database
 * accepts every JSON string.
 */
function plainText(text: string): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return whole.length > maxTextLength ? whole.slice(0, maxTextLength) : whole;
}

const maxTextLength = 200;
