import { panel } from '../../api/panel.js';
import type { Usage, UsageBucket } from '../../api/types.js';
import { useResource, type Resource } from '../../state/use-resource.js';
import type { Grouping } from './grouping.js';
import { ranges, spanOf, type Range, type RangeName, type Span } from './range.js';

interface OverviewReport extends Span {
  readonly report: Usage;
  readonly range: Range;
}

/** Usage of a range, refreshed regularly; without a grouping in total. */
export function useOverview(name: RangeName, grouping: Grouping | undefined): Resource<OverviewReport> {
  const range = ranges[name];
  const load = async (signal: AbortSignal) => {
    const { fromMs, toMs } = spanOf(range, Date.now());
    const report = await panel.usage({ from: fromMs, to: toMs, step: range.step, ...grouping }, signal);
    return { report, fromMs, toMs, range };
  };
  return useResource(`${name} ${grouping?.by} ${grouping?.tag}`, load, 15_000);
}

/** Names of the usage tags of a range, the most used first. */
export function useTags(name: RangeName): readonly string[] {
  const load = async (signal: AbortSignal) => {
    const { fromMs, toMs } = spanOf(ranges[name], Date.now());
    const { data } = await panel.usage({ from: fromMs, to: toMs, step: '1d', by: 'tag' }, signal);
    return tagsOf(data);
  };
  return useResource(name, load, 60_000).data ?? [];
}

function tagsOf(buckets: readonly UsageBucket[]): readonly string[] {
  const requests = new Map<string, number>();
  for (const { group, requests: more } of buckets)
    if (group) requests.set(group, (requests.get(group) ?? 0) + more);
  return [...requests].toSorted(([, a], [, b]) => b - a).map(([tag]) => tag);
}
