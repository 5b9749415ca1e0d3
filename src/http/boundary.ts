import { GatewayError, errorCodes, isGatewayError, toGatewayError, type ErrorCode } from '../plugin/index.js';
import type { CoreContext } from './exchange.js';

/** The one place where an error becomes bytes, and is logged. */
export async function errorBoundary(ctx: CoreContext, next: () => Promise<void>): Promise<void> {
  try {
    await next();
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
  ctx.state.refusal = error.code;
  ctx.status = error.status;
  for (const [name, value] of Object.entries(error.headers)) ctx.set(name, value);
  ctx.body = JSON.stringify(error);
  ctx.type = 'application/json';
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

function logError(ctx: CoreContext, error: GatewayError, thrown: unknown): void {
  const fields = { code: error.code, status: error.status };
  if (error.code === 'internal')
    ctx.state.log.error({ ...fields, err: error.cause ?? thrown }, 'The gateway failed.');
  else if (error.status >= 500) ctx.state.log.warn({ ...fields, cause: causeOf(error) }, error.message);
  else ctx.state.log.debug(fields, 'The request was refused.'); // the message may quote what its caller wrote
}

/** The cause in a few words: an upstream's stack helps nobody. */
function causeOf(error: GatewayError): string | undefined {
  return error.cause instanceof Error ? error.cause.message : undefined;
}
