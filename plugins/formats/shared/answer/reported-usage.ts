import type { Usage } from '@gw2api/gateway/plugin';

/** Token counts as Chat Completions and Completions report them, summed over all answers to the request. */
export function chatUsage(usages: readonly Usage[]): object {
  const { input, cacheRead, cacheWrite, output, thinking } = count(usages);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}

/** Token counts as Responses reports them. */
export function responsesUsage(usage: Usage): object {
  const { input, cacheRead, cacheWrite, output, thinking } = count([usage]);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: input + output,
  };
}

interface Count {
  /** All tokens that the model read, from the cache or not: Messages counts the three apart, the others together. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly thinking: number;
}

function count(usages: readonly Usage[]): Count {
  const cacheRead = sum(usages, (usage) => usage.cache_read_input_tokens);
  const cacheWrite = sum(usages, (usage) => usage.cache_creation_input_tokens);
  return {
    input: sum(usages, (usage) => usage.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: sum(usages, (usage) => usage.output_tokens),
    thinking: sum(usages, (usage) => usage.output_tokens_details?.thinking_tokens),
  };
}

function sum(usages: readonly Usage[], read: (usage: Usage) => number | null | undefined): number {
  return usages.reduce((total, usage) => total + (read(usage) ?? 0), 0);
}
