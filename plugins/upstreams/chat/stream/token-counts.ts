import type { Usage } from '@gw2api/gateway/plugin';
import { count, uncached } from '../../shared/answer/counts.js';
import { fieldsOf, type Fields } from '../../shared/fields.js';

/** Token counts of a stream: the last ones that are not all zero, which means uncounted. */
export class TokenCounts {
  #usage: Usage | undefined;

  /** Usage as Messages counts it; undefined if the server has not reported it. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Reads the counts of a chunk, wherever its server puts them; false if it has none. */
  read(chunk: Fields, choice: Fields): boolean {
    const { usage, timings, x_groq: groq } = chunk;
    const given = usage ?? choice['usage'] ?? fieldsOf(groq)['usage'];
    if ((given === undefined || given === null) && timings === undefined) return false;
    const counted = usageOf(fieldsOf(given), fieldsOf(timings));
    if (counted) this.#usage = { ...this.#usage, ...counted };
    return counted !== undefined;
  }
}

/** Counts in the terms of Messages, whose input excludes tokens read from the cache and written to it. */
function usageOf(usage: Fields, timings: Fields): Usage | undefined {
  const read = cacheRead(usage) ?? count(timings['cache_n']);
  const prompt = count(usage['prompt_tokens']) ?? total(count(timings['prompt_n']), read);
  const output = outputOf(usage) ?? count(timings['predicted_n']);
  if (!prompt && !output) return undefined;
  const written = cacheWritten(usage);
  const thinking = count(fieldsOf(usage['completion_tokens_details'])['reasoning_tokens']);
  return {
    input_tokens: uncached(prompt ?? 0, read, written),
    output_tokens: output ?? 0,
    ...(read !== undefined && { cache_read_input_tokens: read }),
    ...(written !== undefined && { cache_creation_input_tokens: written }),
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
  };
}

/** Tokens read from the cache: OpenAI's name, DeepSeek's, Moonshot's, and that of Messages. */
function cacheRead(usage: Fields): number | undefined {
  const { cached_tokens: cached } = fieldsOf(usage['prompt_tokens_details']);
  return (
    count(cached) ??
    count(usage['prompt_cache_hit_tokens']) ??
    count(usage['cached_tokens']) ??
    count(usage['cache_read_input_tokens'])
  );
}

function cacheWritten(usage: Fields): number | undefined {
  const { cache_write_tokens: written } = fieldsOf(usage['prompt_tokens_details']);
  return count(written) ?? count(usage['cache_creation_input_tokens']);
}

/** Output with the thinking, which some servers (xAI, Gemini) count beside the completion. */
function outputOf(usage: Fields): number | undefined {
  const completion = count(usage['completion_tokens']);
  const thinking = count(fieldsOf(usage['completion_tokens_details'])['reasoning_tokens']) ?? 0;
  const sum = (count(usage['prompt_tokens']) ?? 0) + (completion ?? 0);
  const isBeside = thinking > 0 && count(usage['total_tokens']) === sum + thinking;
  return isBeside ? (completion ?? 0) + thinking : completion;
}

function total(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? undefined : first + (second ?? 0);
}
