import { GatewayError } from '../contract/error.js';
import { isErrorCode } from '../../kit/error-code.js';
import { errorFields } from './error-shapes.js';
import { withNamedWait } from '../http/named-wait.js';

/**
 * HTTP status of the error types of the Messages API, for errors that arrive without one: inside a stream.
 */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  upstream_error: 502,
  timeout_error: 504,
  overloaded_error: 529,
};

/**
 * Converts an upstream's `error` event to a GatewayError with the status of its type; 502 for unknown types.
 */
export function errorFromEvent(event: object): GatewayError {
  const fields = errorFields(event);
  const { type: own, code: ownCode, message, details, param, status: named } = readError(fields);
  const type = own ?? (named === undefined ? 'api_error' : errorType(named));
  const code = ownCode ?? (own === undefined ? type : 'api_error');
  const status = (Object.hasOwn(statuses, type) ? statuses[type] : named) ?? 502;
  const headers = withNamedWait({ status, headers: {} }, fields, Date.now());
  return new GatewayError(code, message ?? 'The upstream reported an error without any details.', {
    status,
    type,
    headers,
    details,
    param,
    failure: { kind: 'status', status, headers },
  });
}

/** Error for an answer that ended with neither `message_stop` nor an error. */
export function interruptedError(cause?: unknown): GatewayError {
  return new GatewayError('upstream_interrupted', 'The upstream ended its answer before it was complete.', {
    failure: { kind: 'interrupted' },
    cause,
  });
}

/**
 * Fields of an upstream's error object, in the shape of either vendor; a bare text is its message. The code is the
 * upstream's own, else its type, if that is a valid code.
 */
export function readError(error: unknown): UpstreamError {
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : { message: error };
  const type = asText(fields['type']);
  return {
    type,
    code: [asText(fields['code']), type].find((text) => text !== undefined && isErrorCode(text)),
    message: asText(fields['message']),
    details: fields['details'] ?? undefined,
    param: asText(fields['param']),
    status: namedStatus([fields['status'], fields['code'], fields['status_code']]),
  };
}

interface UpstreamError {
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly details: unknown;
  /** Path of the field at fault. */
  readonly param: string | undefined;
  /** HTTP status that the error itself names. */
  readonly status: number | undefined;
}

/**
 * HTTP status that fields of an error name, the first of them; undefined for none. Throws `upstream_invalid_response`
 * for an object, which no error of any protocol has there.
 */
export function namedStatus(fields: readonly unknown[]): number | undefined {
  if (fields.some((field) => typeof field === 'object' && field !== null)) throw objectAsCode();
  return fields.map(Number).find(isErrorStatus);
}

function objectAsCode(): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    'The upstream sent an error whose code is an object.',
    {
      failure: { kind: 'foreign' },
    },
  );
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `error.type` of an answer without one. */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

/** `error.type` of a status, for errors without one. */
export function errorType(status: number): string {
  return typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'upstream_error');
}
