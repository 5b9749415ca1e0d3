import type { LedgerTokens } from '../contract/ledger.js';
import type { Usage } from '../contract/messages.js';
import type { UsageTally } from '../contract/trace.js';

/**
 * Tokens of a request so far, as billed and as shown to the caller. Hidden cache writes are taken from the 1h
 * part first, as in usage-mask.
 */
export function ledgerTokens({ billed, masked }: UsageTally): {
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
} {
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

/** Total of all tokens: input, cache reads and writes, output. */
export function totalTokens(tokens: LedgerTokens): number {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = tokens;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + output;
}

function less(all: number, hidden: number): number {
  return Math.max(0, all - hidden);
}

/** Token counts of a usage report; cache writes without a duration count as 5 minutes. */
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

/** Validates a count, which an upstream may send as anything: invalid ones are 0, and none is above the max. */
function count(tokens: unknown): number {
  const isCount = typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0;
  return isCount ? Math.min(Math.round(tokens), maxTokens) : 0;
}

/** Max of any count, so that a database can store its cost and sums of it. */
const maxTokens = 1e9;
