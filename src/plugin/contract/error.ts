/**
 * Codes of the gateway's own errors, each with its status and type; an upstream's own code is passed on unchanged.
 */
export const errorCodes = {
  missing_api_key: { status: 401, type: 'authentication_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  invalid_session: { status: 401, type: 'authentication_error' },
  wrong_password: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'not_found_error' },
  model_not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  body_too_large: { status: 413, type: 'request_too_large' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  expectation_failed: { status: 417, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  invalid_json: { status: 400, type: 'invalid_request_error' },
  invalid_request: { status: 400, type: 'invalid_request_error' },
  stage_denied: { status: 403, type: 'permission_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  budget_exceeded: { status: 429, type: 'rate_limit_error' },
  incomplete_response: { status: 502, type: 'upstream_error' },
  stage_failed: { status: 502, type: 'upstream_error' },
  upstream_unreachable: { status: 502, type: 'upstream_error' },
  upstream_interrupted: { status: 502, type: 'upstream_error' },
  upstream_invalid_response: { status: 502, type: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'upstream_error' },
  no_slot_available: { status: 503, type: 'overloaded_error' },
  store_unavailable: { status: 503, type: 'overloaded_error' },
  shutting_down: { status: 503, type: 'overloaded_error' },
  internal: { status: 500, type: 'api_error' },
} as const satisfies Record<string, { status: number; type: string }>;

export type ErrorCode = keyof typeof errorCodes;

export interface GatewayErrorOptions {
  /** HTTP status; by default the one of the code. */
  readonly status?: number;
  /** `error.type` of the body; by default the one of the code. */
  readonly type?: string;
  /** Answer headers, lower case: `retry-after`, `x-should-retry`, rate-limit headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An upstream's `error.details`, unchanged. */
  readonly details?: unknown;
  /** Path of the field at fault, as the caller wrote it; by default the one that an `invalid_request` begins with. */
  readonly param?: string | undefined;
  /** Token for the refused part of a request, by which clients of Messages recover: `prompt_too_long`. */
  readonly capability?: string | undefined;
  /** Message for callers, if that for operators names a slot or its fault; default: the same. */
  readonly callersMessage?: string | undefined;
  /** Kind of upstream failure, for the slot's state and for failover; never sent to a caller. */
  readonly failure?: CallFailure;
  readonly cause?: unknown;
}

/**
 * Kind of failure of an upstream call. `status`: an HTTP error answer, or an `error` event instead of content;
 * `foreign`: an answer in another protocol; `reused`: the connection had served before, so that a closed socket does
 * not concern the slot; `waitedFor`: the awaited part of the answer at a timeout of `afterMs`, its headers or its first
 * content.
 */
export type CallFailure =
  | { readonly kind: 'unreachable'; readonly reused: boolean }
  | { readonly kind: 'timeout'; readonly waitedFor?: 'headers' | 'content'; readonly afterMs?: number }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'status'; readonly status: number; readonly headers: Readonly<Record<string, string>> };

const brand = Symbol.for('gw2api.GatewayError');

/** Error as sent to a caller: `{"error":{"type","code","message"}}` with its HTTP status. */
export class GatewayError extends Error {
  readonly [brand] = true;
  readonly code: string;
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: unknown;
  readonly param: string | undefined;
  readonly capability: string | undefined;
  readonly callersMessage: string | undefined;
  readonly failure: CallFailure | undefined;

  /** `code`: one of `errorCodes`, or an upstream's own, which needs `status` and `type` beside it. */
  constructor(code: ErrorCode | (string & {}), message: string, options: GatewayErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    const known = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode] : errorCodes.internal; // just checked
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? known.status;
    this.type = options.type ?? known.type;
    this.headers = options.headers ?? {};
    this.details = options.details;
    this.param =
      options.param ?? (code === 'invalid_request' && !options.failure ? pathIn(message) : undefined);
    this.capability = options.capability;
    this.callersMessage = options.callersMessage;
    this.failure = options.failure;
  }

  /** The body of the answer; `details` only if an upstream sent them. */
  toJSON(): { error: { type: string; code: string; message: string; details?: unknown } } {
    const { type, code, message, details } = this;
    return { error: details === undefined ? { type, code, message } : { type, code, message, details } };
  }
}

/** True for a GatewayError of any copy of this package: recognised by its brand, not by its class. */
export function isGatewayError(error: unknown): error is GatewayError {
  try {
    return typeof error === 'object' && error !== null && brand in error;
  } catch {
    return false; // a proxy whose trap throws
  }
}

/** Path at the start of a message: `messages[2].content: must be a text`. */
function pathIn(message: string): string | undefined {
  return /^([\w$.[\]-]{1,200}): /.exec(message)?.[1];
}

/** Parts of an error to change in a copy. */
export interface ErrorChanges extends GatewayErrorOptions {
  readonly code?: string;
  readonly message?: string;
}

/** Copy of an error with other parts. */
export function changedError(error: GatewayError, changes: ErrorChanges): GatewayError {
  const { failure, cause, status, type, headers, details, param, capability, callersMessage } = error;
  const { code = error.code, message = error.message, ...others } = changes;
  return new GatewayError(code, message, {
    status,
    type,
    headers,
    details,
    param,
    capability,
    callersMessage,
    ...(failure && { failure }),
    ...(cause !== undefined && { cause }),
    ...others,
  });
}

/** The error as shown to callers. */
export function forCaller(error: GatewayError): GatewayError {
  const { callersMessage: message } = error;
  return message === undefined
    ? error
    : changedError(error, { message, callersMessage: undefined, cause: error });
}

/** The error shown to operators, for one that may be `forCaller`. */
export function forOperator(error: GatewayError): GatewayError {
  const { cause, message } = error;
  return isGatewayError(cause) && cause.callersMessage === message ? cause : error;
}

/**
 * Error in place of a provider's refusal of the gateway's own credential (401), which callers would take for one of
 * theirs and log out; any other error unchanged.
 */
export function withoutRefusal(error: GatewayError): GatewayError {
  const { failure, code, message, headers } = error;
  if (failure?.kind !== 'status' || failure.status !== 401) return error;
  const { 'retry-after': _, ...others } = headers;
  return new GatewayError('no_slot_available', `${code}: ${message}`, {
    callersMessage: accountRefused,
    headers: { ...others, 'x-should-retry': 'false' },
    failure,
    cause: error,
  });
}

/** Message for callers if the gateway's account is refused; retries do not help. */
export const accountRefused = "The gateway's account at its provider is refused; tell its operator.";

/** Copy of an error with further response headers; its own headers win. */
export function withHeaders(error: GatewayError, headers: Readonly<Record<string, string>>): GatewayError {
  return changedError(error, { headers: { ...headers, ...error.headers } });
}

/** Converts a thrown value to a GatewayError; an unexpected one becomes `internal` without its text. */
export function toGatewayError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError('internal', 'The gateway failed on this request; see its log.', {
    cause: error,
  });
}
