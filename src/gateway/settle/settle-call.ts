import type { EndedStageCall } from '../../engine/pipeline/call/open-calls.js';
import type { RunningCall } from '../../engine/pipeline/call/running-call.js';
import type { LedgerCost, LedgerRow } from '../../state/ledger/contract.js';
import { settledRequest } from '../plugin-events.js';
import { requestMoney } from './money.js';
import { callerHasLeft, elapsedMs } from './record.js';
import { tokensOf, type RequestRecord } from './request-record.js';
import { knownSecrets, shownCodes } from './request-mask.js';
import { ledgerRowOf } from './row.js';
import { withoutErrorTexts, type SettlingParts } from './settle.js';

/** Work after each call of a stage: log line, ledger row, and notifications of the extensions. */
export function callRecorder(parts: SettlingParts): (ended: EndedStageCall) => void {
  const { log, now, ledger, priceOf, sessionName, slots, events, runtime, watch } = parts;
  const secrets = knownSecrets(slots, runtime);
  return (ended) => {
    const { call } = ended;
    const { state, origin } = call;
    const { trace } = state;
    const codeOf = shownCodes({ ctx: origin, state }, secrets);
    trace.showCodes(codeOf);
    const record = recordOf(ended, now(), codeOf);
    const money = requestMoney(trace, record, priceOf);
    if (runtime().config.log.access) log.info(lineOf(call, record, money.cost), 'call');
    const { requestId, operation, format, caller } = state;
    const own = { requestId, operation, format, caller, trace };
    const row = ledgerRowOf({ startedMs: trace.startedMs, state: own }, record, money, sessionName);
    if (!row) return;
    row.label = call.label;
    if (origin.parent !== undefined) row.parent = origin.parent;
    watch.completeCall?.({ call, record, money, row });
    ledger.write(row, call.counted);
    const shown: LedgerRow = row.errorTexts === undefined ? row : withoutErrorTexts(row);
    if (events.has('request.settled')) events.emit('request.settled', settledRequest(shown));
    watch.callSettled?.({ call, record, money, row: shown });
  };
}

function recordOf(
  { call, outcome, reply, error }: EndedStageCall,
  nowMs: number,
  codeOf: (code: string) => string,
): RequestRecord {
  const { requestId, operation, format, delivery, caller, trace } = call.state;
  const { startedMs, usage, calls, askedModel, firstEventAtMs, firstTokenAtMs, lastEventAtMs } = trace;
  return {
    id: requestId,
    method: 'CALL',
    path: call.label,
    operation,
    format,
    status: reply ? 200 : (error?.status ?? callerHasLeft),
    outcome,
    ms: nowMs - startedMs,
    client: '',
    firstEventMs: elapsedMs(startedMs, firstEventAtMs),
    firstTokenMs: elapsedMs(startedMs, firstTokenAtMs),
    outputMs: outcome === 'completed' ? elapsedMs(firstEventAtMs, lastEventAtMs) : undefined,
    queueMs: trace.queueMs,
    key: caller.keyId,
    model: askedModel,
    answeredBy: reply?.model && reply.model !== askedModel ? reply.model : undefined,
    slot: reply?.slot ?? trace.slot,
    attempts: calls.length || undefined,
    calls,
    brokenBy: undefined,
    delivery,
    billed: usage.billed,
    masked: usage.masked,
    code: error && codeOf(error.code),
    waitingFor: undefined,
    upstreamRequestId: reply?.headers['request-id'],
  };
}

function lineOf({ label, stage, origin }: RunningCall, record: RequestRecord, cost?: LedgerCost): object {
  const { id, key, model, slot, status, outcome, ms, attempts, code, billed } = record;
  return {
    id,
    label,
    stage,
    ...(origin.parent !== undefined && { parent: origin.parent }),
    key,
    model,
    slot,
    attempts,
    status,
    outcome,
    ms,
    code,
    tokens: tokensOf(billed),
    ...(cost && { costUsd: cost.billed / 1e9 }),
  };
}
