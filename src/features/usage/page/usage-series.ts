import type { Tokens, Usage, UsageBucket } from '../../../console/web/api/ledger.js';
import {
  maxColours,
  otherColour,
  seriesColour,
  type ChartData,
  type ChartSeries,
} from '../../../console/web/charts/chart-data.js';
import { allTokens } from '../../../console/web/format/numbers.js';
import type { Span } from '../../../console/web/scope/range.js';
import { groupBy } from '../../../console/web/format/group-by.js';
import { groupName } from '../../../console/web/format/words.js';

interface OverviewCharts {
  readonly requests: ChartData;
  readonly errors: ChartData;
  readonly tokens: ChartData;
  /** Absent if no request has a known cost. */
  readonly cost: ChartData | undefined;
  readonly firstEvent: ChartData;
  /** Absent if no answer has a second token, and of groups. */
  readonly perToken: ChartData | undefined;
}

type Pick = (bucket: UsageBucket) => number | null;

/**
 * The four charts of a usage report: one series per group, or one per kind of number if there are no groups.
 */
export function chartsOf(usage: Usage, span: Span): OverviewCharts {
  const grid = new Grid(usage, span);
  const isGrouped = usage.by !== null;
  const hasFirstToken = usage.data.some(({ latency }) => latency?.first_token);
  const split = (pick: Pick, ungrouped: readonly Part[]) =>
    isGrouped ? grid.groups(pick, 'sum') : grid.parts(ungrouped);
  return {
    requests: grid.chart(
      'bars',
      split((bucket) => bucket.requests, requestParts),
    ),
    errors: grid.chart(
      'bars',
      split((bucket) => bucket.errors, [errorPart]),
    ),
    tokens: grid.chart(
      'bars',
      split((bucket) => allTokens(bucket.billed), tokenParts),
    ),
    cost: usage.data.some(({ cost }) => cost.billed_usd > 0)
      ? grid.chart(
          'bars',
          split((bucket) => bucket.cost.billed_usd, [costPart]),
          true,
        )
      : undefined,
    perToken:
      usage.data.some(({ latency }) => latency?.per_output_token) && !isGrouped
        ? grid.chart('lines', grid.parts(perTokenParts))
        : undefined,
    firstEvent: grid.chart(
      'lines',
      isGrouped
        ? grid.groups(firstEventPart.pick, 'mean')
        : grid.parts(hasFirstToken ? firstTokenParts : [firstEventPart]),
    ),
  };
}

interface Part {
  readonly label: string;
  readonly colour: string;
  readonly pick: Pick;
}

const errorPart: Part = { label: 'Failed', colour: '--meter-bad', pick: ({ errors }) => errors };
const firstEventPart: Part = {
  label: 'Average',
  colour: '--series-1',
  pick: (bucket) => bucket.first_event_ms_avg,
};
const costPart: Part = { label: 'Cost', colour: '--series-2', pick: ({ cost }) => cost.billed_usd };
const firstTokenParts = percentileParts('first_token');
const perTokenParts = percentileParts('per_output_token');
const requestParts: readonly Part[] = [
  { label: 'Answered', colour: '--series-1', pick: ({ requests, errors }) => requests - errors },
  errorPart,
];
const tokenParts: readonly Part[] = [
  tokenPart('Output', 1, (tokens) => tokens.output),
  tokenPart('Input', 2, (tokens) => tokens.input),
  tokenPart('Cache write', 3, (tokens) => tokens.cache_write_5m + tokens.cache_write_1h),
  tokenPart('Cache read', 4, (tokens) => tokens.cache_read),
];

/** Percentiles: half of the requests are faster than the first, all but one in a hundred faster than the last. */
function percentileParts(measure: 'first_token' | 'per_output_token'): readonly Part[] {
  return (['p50', 'p95', 'p99'] as const).map((percentile, index) => ({
    label: percentile,
    colour: seriesColour(index),
    pick: ({ latency }) => latency?.[measure]?.[percentile] ?? null,
  }));
}

function tokenPart(label: string, series: number, of: (tokens: Tokens) => number): Part {
  return { label, colour: seriesColour(series - 1), pick: ({ billed }) => of(billed) };
}

/** The sparse buckets of a report, aligned to all times of its span. */
class Grid {
  readonly #usage: Usage;
  readonly #times: readonly number[];
  readonly #fromSeconds: number;

  constructor(usage: Usage, { fromMs, buckets }: Span) {
    this.#usage = usage;
    this.#fromSeconds = fromMs / 1000;
    this.#times = Array.from(
      { length: buckets },
      (_, index) => this.#fromSeconds + index * usage.step_seconds,
    );
  }

  chart(kind: ChartData['kind'], series: readonly ChartSeries[], hasFractions = false): ChartData {
    return { kind, hasFractions, times: this.#times, stepSeconds: this.#usage.step_seconds, series };
  }

  parts(parts: readonly Part[]): readonly ChartSeries[] {
    return parts.map(({ label, colour, pick }) => ({
      label,
      colour,
      values: this.#row(this.#usage.data, pick, 'sum'),
    }));
  }

  /**
   * One series per group, sorted by name, so that a group has the same colour in all charts. If there are
   * more groups than colours, the smallest ones share the last series.
   */
  groups(pick: Pick, join: Join): readonly ChartSeries[] {
    const { named, other } = splitGroups(this.#usage.data);
    const series = named.map(([label, data], index) => ({
      label,
      colour: seriesColour(index),
      values: this.#row(data, pick, join),
    }));
    if (other.length === 0) return series;
    const rest = other.flatMap(([, data]) => data);
    const label = `${other.length} more`;
    return [...series, { label, colour: otherColour, values: this.#row(rest, pick, join) }];
  }

  /** One value per time: the sum of its buckets, or their mean weighted by requests. */
  #row(data: readonly UsageBucket[], pick: Pick, join: Join): readonly (number | null)[] {
    const sums: (number | null)[] = this.#times.map(() => null);
    const weights = this.#times.map(() => 0);
    for (const bucket of data) {
      const index = Math.floor((Date.parse(bucket.at) / 1000 - this.#fromSeconds) / this.#usage.step_seconds);
      const value = pick(bucket);
      if (index < 0 || index >= sums.length || value === null) continue;
      const weight = join === 'mean' ? bucket.requests : 1;
      sums[index] = (sums[index] ?? 0) + value * weight;
      weights[index] = (weights[index] ?? 0) + weight;
    }
    return join === 'sum' ? sums : sums.map((sum, index) => sum && sum / (weights[index] || 1));
  }
}

/** Aggregation of several buckets at the same time. */
type Join = 'sum' | 'mean';

type Group = readonly [name: string, buckets: readonly UsageBucket[]];

/** The groups with a colour of their own, sorted by name, and the smaller ones that share one. */
function splitGroups(data: readonly UsageBucket[]): {
  readonly named: readonly Group[];
  readonly other: readonly Group[];
} {
  const groups: readonly Group[] = [...groupBy(data, groupName)];
  const bySize = groups.toSorted(([, a], [, b]) => requestsOf(b) - requestsOf(a));
  const named = bySize.slice(0, maxColours).toSorted(([a], [b]) => a.localeCompare(b));
  return { named, other: bySize.slice(maxColours) };
}

function requestsOf(buckets: readonly UsageBucket[]): number {
  return buckets.reduce((sum, { requests }) => sum + requests, 0);
}
