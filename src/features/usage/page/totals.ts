import type { UsageBucket } from '../../../console/web/api/ledger.js';
import { groupBy } from '../../../console/web/format/group-by.js';
import { inputTokens } from '../../../console/web/format/numbers.js';

export interface Totals {
  readonly requests: number;
  readonly errors: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Billed cost in USD of the requests whose cost is known; null without any. */
  readonly costUsd: number | null;
  /** Requests with tokens and an unknown cost. */
  readonly unpriced: number;
  /** Mean of the buckets' means, weighted by their requests; null if no bucket has one. */
  readonly firstEventMs: number | null;
}

export function totalsOf(buckets: readonly UsageBucket[]): Totals {
  const sum = (pick: (bucket: UsageBucket) => number) => buckets.reduce((total, one) => total + pick(one), 0);
  const begun = buckets.filter((bucket) => bucket.first_event_ms_avg !== null);
  const weight = begun.reduce((total, { requests }) => total + requests, 0);
  const weighted = begun.reduce((total, one) => total + (one.first_event_ms_avg ?? 0) * one.requests, 0);
  const unpriced = sum(({ cost }) => cost.unpriced_requests);
  const costUsd = sum(({ cost }) => cost.billed_usd);
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    input: sum(({ billed }) => inputTokens(billed)),
    output: sum(({ billed }) => billed.output),
    cacheRead: sum(({ billed }) => billed.cache_read),
    costUsd: costUsd === 0 && unpriced > 0 ? null : costUsd,
    unpriced,
    firstEventMs: weight > 0 ? weighted / weight : null,
  };
}

export type GroupTotals = Totals & Pick<UsageBucket, 'group' | 'name'>;

/** Totals of each group: a range that does not start at a whole hour may be split in two buckets. */
export function mergeGroups(buckets: readonly UsageBucket[]): readonly GroupTotals[] {
  const groups = groupBy(buckets, ({ group }) => group);
  return [...groups].map(([group, own]) => ({ ...totalsOf(own), group, name: own[0]?.name ?? null }));
}
