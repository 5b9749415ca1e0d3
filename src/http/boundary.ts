import { GatewayError, errorCodes, isGatewayError, toGatewayError, type ErrorCode } from '../plugin/index.js';
import type { CoreContext } from './exchange.js';

/** The one place where an error becomes bytes, and is logged. */
export async function errorBoundary(ctx: CoreContext, next: () => Promise<void>): Promise<void> {
  try {
    await next();
    ctx.state.onSettled(() => logFailure(ctx));
  } catch (thrown) {
    if (hasLeft(ctx)) return;
    const error = fromThrown(thrown);
    logError(ctx, error, thrown);
    respond(ctx, error);
  }
}

/** Answers with the error object of contract §2.3 and nothing beside it. */
function respond(ctx: CoreContext, error: GatewayError): void {
  if (ctx.headerSent) {
    ctx.res.destroy();
    return;
  }
  ctx.state.answered = error;
  ctx.status = error.status;
  if (isFinal(error)) ctx.set('x-should-retry', 'false');
  for (const [name, value] of Object.entries(error.headers)) ctx.set(name, value);
  ctx.body = JSON.stringify(error);
  ctx.type = 'application/json';
}

/** What the same request would meet again: some clients repeat it for half a minute unless they are told. */
function isFinal({ status, code }: GatewayError): boolean {
  return status === 401 || status === 403 || status === 404 || code === 'incomplete_response';
}

/** Whether the caller has gone, so that what was thrown is only the echo of it. */
function hasLeft(ctx: CoreContext): boolean {
  return ctx.req.socket.destroyed && ctx.state.failure === undefined;
}

/** Also understands what plain Koa middleware throws: `ctx.throw(418, 'text')`, http-errors. */
export function fromThrown(thrown: unknown): GatewayError {
  if (isGatewayError(thrown) || !(thrown instanceof Error)) return toGatewayError(thrown);
  const { status, expose, message, headers } = thrown as Error & HttpErrorParts; // parts are checked below
  if (typeof status !== 'number' || status < 400 || status > 599 || !expose) return toGatewayError(thrown);
  const code = codeOfStatus(status);
  const type = errorCodes[code].status === status ? errorCodes[code].type : 'invalid_request_error';
  return new GatewayError(code, message, { status, type, headers: headers ?? {}, cause: thrown });
}

interface HttpErrorParts {
  readonly status?: unknown;
  readonly expose?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

function codeOfStatus(status: number): ErrorCode {
  const codes = Object.entries(errorCodes) as [ErrorCode, { status: number }][]; // its keys are the codes
  const exact = preferred[status] ?? codes.find(([, known]) => known.status === status)?.[0];
  return exact ?? (status < 500 ? 'invalid_request' : 'internal');
}

/** Where several codes share a status, the one that a foreign middleware will have meant. */
const preferred: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  404: 'not_found',
  502: 'upstream_unreachable',
  503: 'no_slot_available',
};

/** An answer that broke after it had begun: its caller was told in the stream, and that the log says why. */
function logFailure(ctx: CoreContext): void {
  const { failure } = ctx.state;
  if (failure) logError(ctx, failure, failure);
}

function logError(ctx: CoreContext, error: GatewayError, thrown: unknown): void {
  const { thrown: traced, log } = ctx.state;
  const by = traced?.error === thrown ? traced?.by : undefined;
  const fields = { code: error.code, status: error.status, ...by };
  if (error.code === 'internal') log.error({ ...fields, err: error.cause ?? thrown }, 'The gateway failed.');
  else if (error.status >= 500) log.warn({ ...fields, cause: causeOf(error) }, error.message);
  else log.debug(fields, 'The request was refused.'); // the message may quote what its caller wrote
}

/** The cause in a few words: an upstream's stack helps nobody. */
function causeOf(error: GatewayError): string | undefined {
  return error.cause instanceof Error ? error.cause.message : undefined;
}
