import { GatewayError, type Format, type Operation } from '../plugin/internal.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import type { RouteContext } from './route-context.js';

/** Runs the stages of an operation and then `answer`, where the stages do not answer themselves. */
export function keyed(
  serving: RouteContext,
  operation: Operation,
  format: Format | undefined,
  answer: (ctx: CoreContext) => Promise<void> | void = requireResponse,
): CoreMiddleware {
  const writeError = format?.error?.bind(format);
  return async (ctx) => {
    if (format) ctx.state.format = format.name;
    if (writeError) ctx.state.formatError = writeError;
    if (!serving.takesRequests) throw shuttingDown(ctx);
    ctx.state.operation = operation;
    const { pipeline } = serving;
    pipeline.enter();
    ctx.state.onSettled(() => pipeline.leave());
    // A stage's own context type is narrower; koa-compose calls them all with this one context.
    const run = pipeline.middlewareFor(operation) as unknown as CoreMiddleware;
    await run(ctx, async () => answer(ctx));
    requireAnswer(ctx);
  };
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
  const error = unanswered(by ? `The stage ${JSON.stringify(by.stage)}` : 'A stage', ctx);
  trace.blame(error, by);
  throw error;
}

/** True where Koa would answer with a plain-text 404. */
export function isUnanswered(ctx: CoreContext): boolean {
  return ctx.status === 404 && ctx.body === undefined && !ctx.headerSent && ctx.respond !== false;
}

export function unanswered(what: string, { state }: CoreContext): GatewayError {
  return new GatewayError('internal', `${what} has ended request ${state.requestId} without an answer.`);
}

function requireResponse(ctx: CoreContext): void {
  if (!ctx.state.response) throw new GatewayError('internal', 'The pipeline ended without an answer.');
}
