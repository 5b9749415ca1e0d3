import {
  fetchRequests,
  fetchUsage,
  type CacheLoss,
  type LedgerRequest,
  type Usage,
  type UsageBucket,
  type UsageGroup,
} from '../../../console/web/api/ledger.js';
import { groupBy } from '../../../console/web/format/group-by.js';
import { useResource, type Resource } from '../../../console/web/state/use-resource.js';
import { spanOf, type Span, type SpanName } from './span.js';

interface CacheReport {
  readonly span: Span;
  /** Usage over time, by the requested group. */
  readonly usage: Usage;
  /** Sums of the whole range, one for each cause with a loss. */
  readonly causes: readonly CauseSum[];
  /** Last turns with a loss, newest first. */
  readonly losses: readonly Loss[];
}

export interface CauseSum {
  readonly cause: CacheLoss['cause'];
  readonly turns: number;
  readonly tokens: number;
  /** Of the losses whose cost is known; null if it is 0 and models without a price have lost some. */
  readonly usd: number | null;
}

/** A turn that has lost tokens. */
export type Loss = LedgerRequest & { readonly cache: CacheLoss };

/** Hit ratio and losses of a span, refreshed regularly. */
export function useCache(name: SpanName, by: UsageGroup | null): Resource<CacheReport> {
  const load = async (signal: AbortSignal): Promise<CacheReport> => {
    const span = spanOf(name, Date.now());
    const times = { from: span.fromMs, to: span.toMs };
    const usageTimes = { ...times, latency: false };
    const step = `${span.stepSeconds}s`;
    const whole = `${(span.toMs - span.fromMs) / 1000}s`;
    const [usage, causes] = await Promise.all([
      fetchUsage({ ...usageTimes, step, ...(by && { by }) }, signal),
      fetchUsage({ ...usageTimes, step: whole, by: 'cause' }, signal),
    ]);
    const sums = causeSums(causes.data);
    return { span, usage, causes: sums, losses: await lastLosses(sums, times, signal) };
  };
  return useResource(`${name} ${by}`, load, 15_000);
}

/** Sums of the causes; a range that does not begin at a whole hour may have two buckets of each. */
function causeSums(buckets: readonly UsageBucket[]): readonly CauseSum[] {
  const groups = groupBy(buckets, ({ group }) => (group ?? 'unknown') as CauseSum['cause']); // the groups are causes
  return [...groups].map(([cause, own]) => causeSum(cause, own)).filter(({ turns }) => turns > 0);
}

function causeSum(cause: CauseSum['cause'], buckets: readonly UsageBucket[]): CauseSum {
  const sum = (pick: (bucket: UsageBucket) => number) => buckets.reduce((total, one) => total + pick(one), 0);
  const usd = sum(({ cache_lost_usd: lost }) => lost);
  const unpriced = sum(({ cost }) => cost.unpriced_requests);
  return {
    cause,
    turns: sum(({ requests }) => requests),
    tokens: sum(({ cache_lost_tokens: lost }) => lost),
    usd: usd === 0 && unpriced > 0 ? null : usd,
  };
}

const shownLosses = 50;

/** Queries only the causes that occur: a search for one without a turn reads the whole range. */
async function lastLosses(
  causes: readonly CauseSum[],
  times: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<readonly Loss[]> {
  const pages = await Promise.all(
    causes.map(({ cause, turns }) =>
      fetchRequests({ ...times, cause, limit: Math.min(turns, shownLosses) }, signal),
    ),
  );
  const losses = pages.flatMap(({ data }) => data.filter((row): row is Loss => row.cache !== null));
  return losses.toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, shownLosses);
}
