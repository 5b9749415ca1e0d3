import { GatewayError } from 'gw2api/plugin';
import { fieldsOf, textOf, type Fields } from '../../shared/fields.js';

/** Error of a failed response, with the HTTP status that its code would have had. */
export function failedResponse(given: unknown): GatewayError {
  const error: Fields = fieldsOf(given);
  const code = textOf(error['code']) || textOf(error['type']) || 'server_error';
  const { status, type } = statuses.get(code) ?? unknownError;
  const message = textOf(error['message']) || 'The upstream reported an error without saying what it was.';
  return new GatewayError(code, message, {
    status,
    type,
    failure: { kind: 'status', status, headers: {} },
  });
}

const unknownError = { status: 500, type: 'api_error' };
const invalid = { status: 400, type: 'invalid_request_error' };
const limited = { status: 429, type: 'rate_limit_error' };

const statuses: ReadonlyMap<string, { readonly status: number; readonly type: string }> = new Map([
  ['rate_limit_exceeded', limited],
  ['insufficient_quota', limited],
  ['context_length_exceeded', invalid],
  ['invalid_prompt', invalid],
  ['invalid_request_error', invalid],
  ['server_is_overloaded', { status: 503, type: 'overloaded_error' }],
]);
