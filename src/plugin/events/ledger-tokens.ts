import type { LedgerRow, LedgerTokens } from '../contract/ledger.js';
import type { Usage } from '../contract/messages.js';
import type { UsageTally } from '../contract/state.js';

/**
 * The tokens of a request so far, as billed and as the caller is told. What is hidden of what was written to the cache is
 * the hour's part first, as usage-mask takes it.
 */
export function ledgerTokens({ billed, masked }: UsageTally): Pick<LedgerRow, 'billed' | 'shown'> {
  const all = countsOf(billed);
  const hiddenWrites = count(masked.cache_creation_input_tokens);
  const hidden1h = Math.min(hiddenWrites, all.cacheWrite1h);
  const shown = {
    input: less(all.input, count(masked.input_tokens)),
    cacheRead: less(all.cacheRead, count(masked.cache_read_input_tokens)),
    cacheWrite5m: less(all.cacheWrite5m, hiddenWrites - hidden1h),
    cacheWrite1h: less(all.cacheWrite1h, hidden1h),
    output: less(all.output, count(masked.output_tokens)),
  };
  return { billed: all, shown };
}

/** Input and output together, wherever the input was counted. */
export function totalTokens(tokens: LedgerTokens): number {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = tokens;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + output;
}

function less(all: number, hidden: number): number {
  return Math.max(0, all - hidden);
}

/** What an upstream wrote to its cache without saying for how long, it wrote for five minutes. */
function countsOf(usage: Usage): LedgerTokens {
  const written = count(usage.cache_creation_input_tokens);
  const cacheWrite1h = Math.min(count(usage.cache_creation?.ephemeral_1h_input_tokens), written);
  return {
    input: count(usage.input_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output: count(usage.output_tokens),
  };
}

/** Upstreams write usage, so that it may be anything. */
function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}
