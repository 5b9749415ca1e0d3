interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** `error.details` of the body. */
  readonly details?: unknown;
}

/** An error answer: an HTTP status and `{"type":"error","error":{"type","message"},"request_id"}`. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: unknown;

  constructor(status: number, message: string, { headers = {}, details }: RefusalOptions = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
    this.headers = { 'x-should-retry': String(retryable.has(status)), ...headers };
    this.details = details;
  }

  body(requestId: string): object {
    const { type, message, details } = this;
    const error = details === undefined ? { type, message } : { type, message, details };
    return { type: 'error', error, request_id: requestId };
  }
}

/** A 400: the request's error, in the words of the real service. */
export function badRequest(message: string): Refusal {
  return new Refusal(400, message);
}

/** `error.type` of each status, as the vendor documents it. */
export const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const retryable = new Set([408, 409, 429, 500, 502, 503, 504, 529]);
