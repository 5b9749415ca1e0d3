import { GatewayError } from '../error.js';
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
  const { type, code, message, details } = describe(event);
  const status = Object.hasOwn(statuses, type) ? statuses[type] : undefined;
  return new GatewayError(code, message, {
    status: status ?? 502,
    type,
    details,
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

interface Description {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly details: unknown;
}

function describe(event: MessagesStreamEvent): Description {
  const error: unknown = 'error' in event ? event.error : undefined;
  const fields: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : { message: error };
  const type = asText(fields['type']) ?? 'api_error';
  return {
    type,
    code: asText(fields['code']) ?? type,
    message: asText(fields['message']) ?? 'The upstream reported an error without saying what it was.',
    details: fields['details'] ?? undefined,
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
