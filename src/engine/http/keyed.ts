import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, type Format, type Operation } from '../../plugin/index.js';
import { hasStandardKey } from '../../plugin/core.js';
import { dialectOf } from './dialect.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import type { RouteContext } from './route-context.js';

/** Runs the stages of an operation and then `answer`, unless the stages answer themselves. */
export function keyed(
  serving: RouteContext,
  operation: Operation,
  format: Format | undefined,
  answer: (ctx: CoreContext) => Promise<void> | void = requireResponse,
): CoreMiddleware {
  const speak = format && dialectOf([format]);
  const keyHeader = format?.keyHeader?.toLowerCase();
  return async (ctx) => {
    if (format) ctx.state.format = format.name;
    speak?.(ctx);
    if (keyHeader !== undefined) takeKey(ctx.req.headers, keyHeader);
    if (!serving.takesRequests) throw shuttingDown(ctx);
    ctx.state.operation = operation;
    serving.watch.begin?.(ctx);
    const { pipeline } = serving;
    pipeline.enter();
    ctx.state.onSettled(() => pipeline.leave());
    // A stage's own context type is narrower; koa-compose calls them all with this one context.
    const run = pipeline.middlewareFor(operation) as unknown as CoreMiddleware;
    await run(ctx, async () => answer(ctx));
    requireAnswer(ctx);
  };
}

/**
 * Moves a key from the header of its format to the one that all stages know as a secret, unless `x-api-key` or
 * `Authorization: Bearer` holds one.
 */
function takeKey(headers: IncomingHttpHeaders, keyHeader: string): void {
  const key = headers[keyHeader];
  if (key === undefined || keyHeader === 'x-api-key' || keyHeader === 'authorization') return;
  delete headers[keyHeader];
  if (!hasStandardKey(headers)) headers['x-api-key'] = key;
}

function shuttingDown(ctx: CoreContext): GatewayError {
  ctx.set('connection', 'close');
  return new GatewayError('shutting_down', 'This gateway is shutting down; send the request again.', {
    headers: { 'retry-after': '1' },
  });
}

/** Fails a request whose stage neither called `next` nor answered: Koa would send a plain-text 404. */
function requireAnswer(ctx: CoreContext): void {
  if (!isUnanswered(ctx)) return;
  const { trace } = ctx.state;
  const by = trace.endedBy;
  const why = trace.endedAbove && lostNext[trace.endedAbove];
  const error = unanswered(by ? `The stage ${JSON.stringify(by.stage)}` : 'A stage', ctx, why);
  trace.blame(error, by);
  throw error;
}

/** True if Koa would answer with a plain-text 404. */
export function isUnanswered(ctx: CoreContext): boolean {
  return ctx.status === 404 && ctx.body === undefined && !ctx.headerSent && ctx.respond !== false;
}

export function unanswered(what: string, { state }: CoreContext, why?: string): GatewayError {
  const end = why === undefined ? '.' : `: ${why}.`;
  return new GatewayError('internal', `${what} ended request ${state.requestId} without an answer${end}`);
}

/** Reasons of a stage that has called `next` and yet ended the request. */
const lostNext = {
  open: 'it called next() without waiting for it; write "await next()" or "return next()"',
  failed: 'an error of its next() was lost; write "await next()", and rethrow what it throws',
} as const;

function requireResponse(ctx: CoreContext): void {
  if (!ctx.state.response) throw new GatewayError('internal', 'The pipeline ended without an answer.');
}
