import type { Usage } from '../contract/messages.js';

const fields = ['cache_read_input_tokens', 'cache_creation_input_tokens', 'input_tokens'] as const;

/**
 * Part of a usage report that `tokens` account for: cache reads first, then cache writes, then plain input;
 * never more than reported.
 */
export function maskedPart(usage: Usage, tokens: number): Usage {
  const part: Record<string, number> = {};
  let left = tokens;
  for (const field of fields) {
    const taken = Math.min(left, usage[field] ?? 0);
    left -= taken;
    if (taken > 0) part[field] = taken;
  }
  return part;
}
