import { GatewayError } from '@gw2api/gateway/plugin';
import { namedStatus } from '@gw2api/gateway/plugin/upstream';
import { openaiRefusal } from './openai-refusal.js';
import { fieldsOf, textOf, type Fields } from '../fields.js';

/** Error that a server reports inside a 200, as if it had refused the call with the status that it names. */
export function streamError(error: unknown): GatewayError {
  return openaiRefusal({ status: statusOf(fieldsOf(error)), headers: {} }, JSON.stringify({ error }));
}

function statusOf({ status, status_code: statusCode, code, type }: Fields): number {
  const given = namedStatus([statusCode, status, code]);
  if (given !== undefined) return given;
  const words = `${textOf(code)} ${textOf(type)}`.slice(0, 200);
  return statuses.find(([pattern]) => pattern.test(words))?.[1] ?? 502;
}

const statuses: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|insufficient_quota/i, 429],
  [/overloaded|unavailable|busy|capacity/i, 503],
  [/authentication|invalid_api_key/i, 401],
  [
    /invalid_request|invalid_prompt|invalid_value|unsupported_(?:parameter|value)|unknown_parameter|context_length|content_filter|bad_?request/i,
    400,
  ],
];

/** Error for an answer that is not Chat Completions; a retry, or another slot, may succeed. */
export function malformed(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_interrupted', `The upstream sent ${what}.`, {
    failure: { kind: 'interrupted' },
    cause,
  });
}
