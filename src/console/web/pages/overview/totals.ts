import type { UsageBucket } from '../../api/types.js';
import { allTokens } from '../../format/numbers.js';

interface Totals {
  readonly requests: number;
  readonly errors: number;
  readonly tokens: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Mean of the buckets' means, weighted by their requests; null if no bucket has one. */
  readonly firstEventMs: number | null;
}

export function totalsOf(buckets: readonly UsageBucket[]): Totals {
  const sum = (pick: (bucket: UsageBucket) => number) => buckets.reduce((total, one) => total + pick(one), 0);
  const begun = buckets.filter((bucket) => bucket.first_event_ms_avg !== null);
  const weight = begun.reduce((total, { requests }) => total + requests, 0);
  const weighted = begun.reduce((total, one) => total + (one.first_event_ms_avg ?? 0) * one.requests, 0);
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    tokens: sum(({ billed }) => allTokens(billed)),
    output: sum(({ billed }) => billed.output),
    cacheRead: sum(({ billed }) => billed.cache_read),
    firstEventMs: weight > 0 ? weighted / weight : null,
  };
}
