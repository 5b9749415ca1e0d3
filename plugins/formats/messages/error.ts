import type { GatewayError } from '@gw2api/gateway/plugin';
import { sseEvent, type FailedRequest } from '@gw2api/gateway/plugin/format';

/**
 * Error body of the Messages API: the default error object with `type` and `request_id` beside it. The id is the one in
 * the header `request-id`, the upstream's own if it refused the call.
 */
export function messagesErrorBody(error: GatewayError, { requestId }: FailedRequest): object {
  const { type, code, details, headers } = error;
  const fields = { type, code, message: wordsOf(error), ...(details !== undefined && { details }) };
  return { type: 'error', error: fields, request_id: headers['request-id'] ?? requestId };
}

/** The `error` event that ends a broken Messages stream. */
export function messagesError(error: GatewayError): string {
  const { type, details } = error;
  const fields = { type, message: wordsOf(error), ...(details !== undefined && { details }) };
  return sseEvent('error', JSON.stringify({ type: 'error', error: fields }));
}

/**
 * The error's message, with the token for the part that a cloud refused; for too long a prompt it begins as clients of
 * Messages expect, which then shorten the prompt.
 */
function wordsOf({ code, message, capability }: GatewayError): string {
  if (code !== 'context_length_exceeded')
    return capability === undefined ? message : `${message} (capability_rejected: ${capability})`;
  const counts = countsIn(message.slice(0, 2000));
  const isSaid = /prompt is too long/i.test(message) && (counts === '' || /tokens > \d/.test(message));
  return isSaid ? message : `prompt is too long${counts}. ${message}`;
}

/** The limit and the length of a prompt, if both are named: the limit is the number beside its word. */
function countsIn(message: string): string {
  const limit = limits.map((pattern) => numberIn(pattern.exec(message)?.[1])).find((each) => each > 0) ?? 0;
  const numbers = (message.match(/\d[\d,]{2,14}/g) ?? []).map(numberIn);
  const length = numbers.find((number) => number > limit);
  return limit > 0 && length !== undefined ? `: ${length} tokens > ${limit} maximum` : '';
}

const limits = [
  /max(?:imum)? (?:context|prompt|input)[a-z ]{0,20}(?: is | of | to |: | )\(?(\d[\d,]*)/i,
  /(\d[\d,]{2,14}) maximum context/i,
  /maximum (?:number of (?:input )?tokens|input tokens)[a-z ]{0,20} ?\(?(\d[\d,]*)/i,
  /context (?:size|window|length|limit)[a-z ]{0,20} ?\(?(\d[\d,]*)/i,
  /(?:limit (?:of|is)|must be <=) (\d[\d,]*)/i,
];

function numberIn(text: string | undefined): number {
  return Number((text ?? '0').replaceAll(',', ''));
}
