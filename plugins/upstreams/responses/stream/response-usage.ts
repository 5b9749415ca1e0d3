import type { Usage } from '@gw2api/gateway/plugin';
import { count, uncached } from '../../shared/answer/counts.js';
import { fieldsOf } from '../../shared/fields.js';

/**
 * Usage of a response in the terms of Messages, whose input excludes tokens read from the cache. Undefined if the
 * server has not counted.
 */
export function usageOf(given: unknown): Usage | undefined {
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details } = fieldsOf(given);
  if (!count(input_tokens) && !count(output_tokens)) return undefined;
  const read = count(fieldsOf(input_tokens_details)['cached_tokens']);
  const thinking = count(fieldsOf(output_tokens_details)['reasoning_tokens']);
  return {
    input_tokens: uncached(count(input_tokens) ?? 0, read),
    output_tokens: count(output_tokens) ?? 0,
    ...(read !== undefined && { cache_read_input_tokens: read }),
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
  };
}
