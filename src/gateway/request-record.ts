import type { CoreContext, Exchange } from '../http/exchange.js';
import type { Outcome } from '../plugin/index.js';
import type { RequestRecord } from '../telemetry/request-log.js';

/** Log record of a request whose response has closed. */
export function recordOf(
  { ctx, state, startedMs }: Exchange,
  outcome: Outcome,
  nowMs: number,
): RequestRecord {
  return {
    id: state.requestId,
    method: ctx.method,
    path: ctx.path,
    operation: state.operation,
    format: state.format,
    status: ctx.headerSent ? ctx.res.statusCode : callerHasLeft,
    outcome,
    ms: nowMs - startedMs,
    key: state.caller?.keyId,
    model: state.request?.model,
    slot: answerHeader(ctx, 'x-gw-slot'),
    attempts: Number(answerHeader(ctx, 'x-gw-attempts')) || undefined,
    calls: state.timeline.calls,
    brokenBy: state.failure?.failure && state.failure.code,
    delivery: state.delivery,
    billed: state.usage.billed,
    masked: state.usage.masked,
    code: (state.failure ?? state.answered)?.code,
    upstreamRequestId: answerHeader(ctx, 'request-id'),
  };
}

/** Status that proxies log if the caller left before the response; Koa's own status would be 404. */
const callerHasLeft = 499;

function answerHeader(ctx: CoreContext, header: string): string | undefined {
  const value = ctx.res.getHeader(header);
  return typeof value === 'string' ? value : undefined;
}
