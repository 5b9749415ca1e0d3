import type { CoreContext, Exchange } from './http/exchange.js';
import type { Outcome } from './plugin/index.js';
import type { RequestRecord } from './telemetry/request-log.js';

/** What the log tells of a request whose response has closed. */
export function recordOf({ ctx, startedMs }: Exchange, outcome: Outcome, nowMs: number): RequestRecord {
  const { state } = ctx;
  return {
    method: ctx.method,
    path: ctx.path,
    operation: state.operation,
    format: state.format,
    status: statusOf(ctx, outcome),
    outcome,
    ms: nowMs - startedMs,
    key: state.caller?.keyId,
    model: state.request?.model,
    slot: answerHeader(ctx, 'x-gw-slot'),
    attempts: Number(answerHeader(ctx, 'x-gw-attempts')) || undefined,
    delivery: state.delivery,
    billed: state.usage.billed,
    masked: state.usage.masked,
    code: state.failure?.code,
  };
}

/** 499, as reverse proxies log it, where the caller left before there was an answer. */
function statusOf({ res }: CoreContext, outcome: Outcome): number {
  return outcome === 'abandoned' && !res.headersSent ? 499 : res.statusCode;
}

function answerHeader(ctx: CoreContext, header: string): string | undefined {
  const value = ctx.res.getHeader(header);
  return typeof value === 'string' ? value : undefined;
}
