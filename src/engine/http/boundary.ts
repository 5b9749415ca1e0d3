import {
  GatewayError,
  changedError,
  forCaller,
  isGatewayError,
  toGatewayError,
  type ErrorCode,
} from '../../plugin/index.js';
import { errorCodes } from '../../plugin/core.js';
import { isHeaderValue } from '../../plugin/upstream/index.js';
import { pluginPlace } from '../trace/plugin-place.js';
import { shownCode } from '../masking/shown-code.js';
import type { TextMask } from '../masking/text-mask.js';
import type { Dialect } from './dialect.js';
import type { CoreContext, CoreMiddleware, CoreState } from './exchange.js';

/** Mask for texts from the upstreams of a request. */
type MaskOf = (ctx: CoreContext) => TextMask;

/** Makes the one place that turns an error into bytes and logs it. `speak`: for requests without a format. */
export function errorBoundary(maskOf: MaskOf, speak: Dialect): CoreMiddleware {
  return async function boundary(ctx, next) {
    const { state } = ctx;
    try {
      await next();
      state.onSettled(() => logFailure(ctx, maskOf));
    } catch (thrown) {
      if (ctx.req.socket.destroyed && state.trace.failure === undefined) return; // caused by the caller's disconnect
      const error = fromThrown(thrown, failureOf(state, thrown));
      logError(ctx, { error, thrown, hasBegun: false }, maskOf);
      if (!state.formatError) speak(ctx);
      respond(ctx, state, error);
    }
  };
}

/** Message for an unexpected failure: names the stage, and how to find it in the log. */
function failureOf({ trace, requestId }: CoreState, thrown: unknown): string | undefined {
  const by = trace.blamed(thrown);
  return by && `The stage ${JSON.stringify(by.stage)} failed on request ${requestId}; see the log.`;
}

/** Answers with the error, in the form of the caller's format where it has its own. */
function respond(ctx: CoreContext, state: CoreState, error: GatewayError): void {
  if (ctx.headerSent) {
    ctx.res.destroy();
    return;
  }
  state.trace.refuse(error);
  ctx.status = error.status;
  if (isFinal(error)) ctx.set('x-should-retry', 'false');
  for (const [name, value] of Object.entries(error.headers)) ctx.set(name, value);
  // An upstream's own answer stays as it came.
  const mayRetry = error.status === 503 && error.headers['x-should-retry'] !== 'false';
  if (mayRetry && !error.failure && !ctx.res.hasHeader('retry-after')) ctx.set('retry-after', '1');
  ctx.body = bodyOf(forCaller(error), state);
  ctx.type = 'application/json';
}

/** The error object, or the caller's format's own; the plain one if the format fails. */
function bodyOf(error: GatewayError, { formatError, requestId, log }: CoreState): string {
  try {
    return JSON.stringify(formatError?.(error, { requestId }) ?? error);
  } catch (cause) {
    log.error({ err: cause }, 'A format could not encode an error.');
    return JSON.stringify(error);
  }
}

/** True for errors that a retry would repeat: without a hint some clients retry for half a minute. */
function isFinal({ status, code }: GatewayError): boolean {
  return status === 401 || status === 403 || status === 404 || code === 'incomplete_response';
}

/**
 * Converts any thrown value to an error that can be answered; also the errors of plain Koa middleware:
 * `ctx.throw(418, 'text')`, http-errors. An unreadable value (a proxy, a throwing getter) becomes `internal`.
 */
function fromThrown(thrown: unknown, message?: string): GatewayError {
  try {
    return answerable(isGatewayError(thrown) ? thrown : fromKoa(thrown, message), message);
  } catch {
    return unforeseen(thrown, message); // the log takes the fields that can be read
  }
}

/** The error, reduced to the parts that can be serialized. Throws if its parts cannot be read. */
function answerable(error: GatewayError, expected: string | undefined): GatewayError {
  const { code, type, message, status, details, headers } = error;
  const isValid = [code, type, message].every((part) => typeof part === 'string') && isErrorStatus(status);
  if (!isValid) return unforeseen(error, expected);
  const fields = Object.entries(Object(headers) as object).filter(isHeader);
  JSON.stringify(details); // throws if it cannot be sent
  return changedError(error, { headers: Object.fromEntries(fields) });
}

function unforeseen(cause: unknown, message = toGatewayError(undefined).message): GatewayError {
  return new GatewayError('internal', message, { cause });
}

function isErrorStatus(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
}

/** A header that cannot be sent is left out. */
function isHeader([name, value]: [string, unknown]): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name) && typeof value === 'string' && isHeaderValue(value);
}

function fromKoa(thrown: unknown, unforeseenMessage: string | undefined): GatewayError {
  if (!(thrown instanceof Error)) return unforeseen(thrown, unforeseenMessage);
  const { status, expose, message, headers } = thrown as Error & HttpErrorParts; // parts are checked below
  if (typeof status !== 'number' || !isErrorStatus(status) || !expose)
    return unforeseen(thrown, unforeseenMessage);
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

/** Most likely code of a status from foreign middleware, if several codes share that status. */
const preferred: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  404: 'not_found',
  502: 'upstream_unreachable',
  503: 'no_slot_available',
};

/** Logs the failure of an answer after its start; the caller received it in the stream. */
function logFailure(ctx: CoreContext, maskOf: MaskOf): void {
  const { failure } = ctx.state.trace;
  if (failure) logError(ctx, { error: failure, thrown: failure, hasBegun: true }, maskOf);
}

interface Failed {
  readonly error: GatewayError;
  readonly thrown: unknown;
  /** True if the answer had begun. */
  readonly hasBegun: boolean;
}

function logError(ctx: CoreContext, { error, thrown, hasBegun }: Failed, maskOf: MaskOf): void {
  const { trace, log } = ctx.state;
  const { stage, path, at, meter } = trace.blamed(thrown) ?? {};
  const code = shownCode(error.code, () => maskOf(ctx));
  const fields = { code, status: error.status, ...(stage !== undefined && { stage, path, at }) };
  if (error.code === 'internal') {
    meter?.fault();
    const err = trace.reasonFor(error.cause ?? thrown);
    log.error({ ...fields, plugin: pluginPlace(err), err }, 'The gateway failed.');
  } else if (error.status >= 500) {
    const mask = error.failure ? maskOf(ctx) : asItIs;
    const cause = causeOf(error);
    log.warn(
      { ...fields, ...callsOf(trace), cause: cause && mask(cause, maxWords) },
      messageOf(error, trace, { code, hasBegun, mask }),
    );
  } else log.debug(fields, 'The request was refused.'); // the message may quote what its caller wrote
}

/** Mask for the gateway's own words, which contain no secrets. */
const asItIs: TextMask = (text) => text;

function callsOf({ calls }: CoreState['trace']): object {
  const last = calls.at(-1);
  return last ? { slot: last.slot, attempts: calls.length } : {};
}

/** Message of the log: an upstream's own words name neither their source nor their consequence. */
function messageOf(
  { failure, status, message }: GatewayError,
  { calls }: CoreState['trace'],
  { code, hasBegun, mask }: { readonly code: string; readonly hasBegun: boolean; readonly mask: TextMask },
): string {
  const last = calls.at(-1);
  if (failure?.kind !== 'status' || !last) return mask(message, maxMessage);
  const count = calls.length === 1 ? 'one call' : `${calls.length} calls`;
  const next = hasBegun ? 'the started answer ends with it' : `the caller gets ${status} after ${count}`;
  const words = message === code ? code : `${code}: ${mask(message, maxWords)}`;
  return `Slot ${JSON.stringify(last.slot)} answered with an error, and ${next}. ${words}`;
}

const maxWords = 300;
const maxMessage = 1000;

/** Message of the cause, without its stack, which does not help with an upstream's error. */
function causeOf({ cause }: GatewayError): string | undefined {
  try {
    return cause instanceof Error ? cause.message : undefined;
  } catch {
    return undefined; // a proxy, or a getter that throws
  }
}
