import type { Exchange } from '../../engine/http/exchange.js';
import type { Outcome } from '../../plugin/index.js';
import type { RequestRecord } from './request-record.js';

/** Log record of a request whose response has closed; its codes as `codeOf` shows them. */
export function recordOf(
  { ctx, state, startedMs, client }: Exchange,
  outcome: Outcome,
  nowMs: number,
  codeOf: (code: string) => string,
): RequestRecord {
  const { trace, reply, count } = state;
  const { usage, calls, failure, refusal, firstEventAtMs, firstTokenAtMs, lastEventAtMs } = trace;
  const error = failure ?? refusal;
  const asked = trace.askedModel ?? state.request?.model;
  return {
    id: state.requestId,
    method: ctx.method,
    path: ctx.path,
    operation: state.operation,
    format: state.format,
    status: ctx.headerSent ? ctx.res.statusCode : callerHasLeft,
    outcome,
    ms: nowMs - startedMs,
    client,
    firstEventMs: elapsedMs(startedMs, firstEventAtMs),
    firstTokenMs: elapsedMs(startedMs, firstTokenAtMs),
    outputMs: outcome === 'completed' ? elapsedMs(firstEventAtMs, lastEventAtMs) : undefined,
    queueMs: trace.queueMs,
    key: state.caller?.keyId,
    model: asked,
    answeredBy: reply?.model && reply.model !== asked ? reply.model : undefined,
    slot: (reply ?? count)?.slot ?? trace.slot,
    attempts: Math.max(reply?.attempts ?? 0, calls.length) || undefined,
    calls,
    brokenBy: failure?.failure && codeOf(failure.code),
    delivery: state.delivery,
    billed: usage.billed,
    masked: usage.masked,
    code: error && codeOf(error.code),
    waitingFor: trace.current(),
    upstreamRequestId: (refusal ?? reply)?.headers?.['request-id'], // a plugin's reply may lack them
  };
}

/** Milliseconds between two times; undefined if one of them is unknown. */
export function elapsedMs(fromMs: number | undefined, toMs: number | undefined): number | undefined {
  return fromMs === undefined || toMs === undefined ? undefined : toMs - fromMs;
}

/** Status that proxies log if the caller disconnected before the response; Koa's own status would be 404. */
export const callerHasLeft = 499;
