import type { Usage, UsageBucket } from '../../../console/web/api/ledger.js';
import { maxColours, seriesColour, type ChartData } from '../../../console/web/charts/chart-data.js';
import { groupBy } from '../../../console/web/format/group-by.js';
import { inputTokens } from '../../../console/web/format/numbers.js';
import { groupName } from '../../../console/web/format/words.js';
import type { Span } from './span.js';

/** Part of the input that was read from the cache, in percent; null without input. */
export function hitPercent(buckets: readonly UsageBucket[]): number | null {
  const input = buckets.reduce((sum, { billed }) => sum + inputTokens(billed), 0);
  const read = buckets.reduce((sum, { billed }) => sum + billed.cache_read, 0);
  return input === 0 ? null : (read / input) * 100;
}

/** Chart of the hit ratio: one line in all, or one for each of the groups with the most input. */
export function hitChart({ by, data, step_seconds: stepSeconds }: Usage, span: Span): ChartData {
  const fromSeconds = span.fromMs / 1000;
  const times = Array.from({ length: span.buckets }, (_, at) => fromSeconds + at * stepSeconds);
  const groups = by === null ? [['Hit ratio', data] as const] : largest(data);
  const series = groups.map(([label, buckets], at) => {
    const byTime = groupBy(buckets, (bucket) =>
      Math.floor((Date.parse(bucket.at) / 1000 - fromSeconds) / stepSeconds),
    );
    return {
      label,
      colour: seriesColour(at),
      values: times.map((_, time) => hitPercent(byTime.get(time) ?? [])),
    };
  });
  return { kind: 'lines', times, stepSeconds, series };
}

function largest(data: readonly UsageBucket[]): readonly (readonly [string, readonly UsageBucket[]])[] {
  const inputOf = (buckets: readonly UsageBucket[]) =>
    buckets.reduce((sum, { billed }) => sum + inputTokens(billed), 0);
  return [...groupBy(data, groupName)]
    .filter(([, buckets]) => inputOf(buckets) > 0)
    .toSorted(([, a], [, b]) => inputOf(b) - inputOf(a))
    .slice(0, maxColours)
    .toSorted(([a], [b]) => a.localeCompare(b));
}
