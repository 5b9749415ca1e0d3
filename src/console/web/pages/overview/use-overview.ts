import { panel } from '../../api/panel.js';
import type { Usage, UsageGroup } from '../../api/types.js';
import { useResource, type Resource } from '../../state/use-resource.js';
import { ranges, spanOf, type Range, type RangeName, type Span } from './range.js';

export interface OverviewReport extends Span {
  readonly report: Usage;
  readonly range: Range;
}

/** Usage of a range, refreshed regularly; without `by` ungrouped. */
export function useOverview(name: RangeName, by: UsageGroup | undefined): Resource<OverviewReport> {
  const range = ranges[name];
  const load = async (signal: AbortSignal) => {
    const { fromMs, toMs } = spanOf(range, Date.now());
    const report = await panel.usage({ from: fromMs, to: toMs, step: range.step, by }, signal);
    return { report, fromMs, toMs, range };
  };
  return useResource(`${name} ${by}`, load, 15_000);
}
