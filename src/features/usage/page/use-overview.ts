import { fetchUsage, type Usage, type UsageBucket } from '../../../console/web/api/ledger.js';
import { rangeKey, spanOf, type Span } from '../../../console/web/scope/range.js';
import type { Scope } from '../../../console/web/scope/scope.js';
import { useResource, type Resource } from '../../../console/web/state/use-resource.js';
import type { Grouping } from './grouping.js';

interface OverviewReport {
  readonly report: Usage;
  readonly span: Span;
}

/** Usage of a scope, refreshed regularly; without a grouping in total. */
export function useOverview(scope: Scope, grouping: Grouping | undefined): Resource<OverviewReport> {
  const load = async (signal: AbortSignal) => {
    const span = spanOf(scope.range, Date.now());
    const { fromMs, toMs, stepSeconds } = span;
    const times = { from: fromMs, to: toMs, step: `${stepSeconds}s` };
    const latency = grouping === undefined; // charts by group show means
    const report = await fetchUsage({ ...times, ...scope.filters, ...grouping, latency }, signal);
    return { report, span };
  };
  return useResource(`${keyOf(scope)} ${grouping?.by} ${grouping?.tag}`, load, 15_000);
}

/** Usage of a scope by a grouping, in the min number of buckets. */
export function useTotals(scope: Scope, grouping: Grouping): Resource<readonly UsageBucket[]> {
  const load = async (signal: AbortSignal) => {
    const { fromMs, toMs } = spanOf(scope.range, Date.now());
    const times = { from: fromMs, to: toMs, step: `${(toMs - fromMs) / 1000}s` };
    return (await fetchUsage({ ...times, ...scope.filters, ...grouping, latency: false }, signal)).data;
  };
  return useResource(`${keyOf(scope)} ${grouping.by} ${grouping.tag}`, load, 15_000);
}

/** Names of the usage tags of a scope, the most used first. */
export function useTags(scope: Scope): readonly string[] {
  const load = async (signal: AbortSignal) => {
    const { fromMs, toMs } = spanOf(scope.range, Date.now());
    const { data } = await fetchUsage(
      { from: fromMs, to: toMs, step: '30d', by: 'tag', latency: false },
      signal,
    );
    return tagsOf(data);
  };
  return useResource(rangeKey(scope.range), load, 60_000).data ?? [];
}

function keyOf({ range, filters }: Scope): string {
  return `${rangeKey(range)} ${JSON.stringify(filters)}`;
}

function tagsOf(buckets: readonly UsageBucket[]): readonly string[] {
  const requests = new Map<string, number>();
  for (const { group, requests: more } of buckets)
    if (group) requests.set(group, (requests.get(group) ?? 0) + more);
  return [...requests].toSorted(([, a], [, b]) => b - a).map(([tag]) => tag);
}
