import { GatewayError } from '../error.js';
import { isErrorCode } from '../error-code.js';
import type { MessagesStreamEvent } from '../contract/messages.js';

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
export function errorFromEvent(event: MessagesStreamEvent): GatewayError {
  const read = readError('error' in event && event.error);
  const { type = 'api_error', code = 'api_error', message, details, param } = read;
  const status = Object.hasOwn(statuses, type) ? statuses[type] : undefined;
  return new GatewayError(code, message ?? 'The upstream reported an error without saying what it was.', {
    status: status ?? 502,
    type,
    details,
    param,
    failure: { kind: 'status', status: status ?? 502, headers: {} },
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
 * upstream's own, else its type, where that is a code at all.
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
  };
}

interface UpstreamError {
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly details: unknown;
  /** Path of the field at fault. */
  readonly param: string | undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
