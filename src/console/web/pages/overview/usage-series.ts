import type { Tokens, Usage, UsageBucket } from '../../api/types.js';
import { seriesColour, type ChartData, type ChartSeries } from '../../charts/chart-data.js';
import { allTokens } from '../../format/numbers.js';
import { groupBy } from '../../format/group-by.js';
import { groupName } from './group-name.js';

export interface OverviewCharts {
  readonly requests: ChartData;
  readonly errors: ChartData;
  readonly tokens: ChartData;
  readonly firstEvent: ChartData;
}

type Pick = (bucket: UsageBucket) => number | null;

/** The four charts of a usage report: a series for each group, and where there are no groups for each kind of number. */
export function chartsOf(usage: Usage, fromMs: number, buckets: number): OverviewCharts {
  const grid = new Grid(usage, fromMs, buckets);
  const isGrouped = usage.by !== null;
  const split = (pick: Pick, ungrouped: readonly Part[]) =>
    isGrouped ? grid.groups(pick) : grid.parts(ungrouped);
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
    firstEvent: grid.chart(
      'lines',
      split((bucket) => bucket.first_event_ms_avg, [firstEventPart]),
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

function tokenPart(label: string, series: number, of: (tokens: Tokens) => number): Part {
  return { label, colour: seriesColour(series - 1), pick: ({ billed }) => of(billed) };
}

/** The sparse buckets of a report, laid out on all times of its span. */
class Grid {
  readonly #usage: Usage;
  readonly #times: readonly number[];
  readonly #fromSeconds: number;

  constructor(usage: Usage, fromMs: number, buckets: number) {
    this.#usage = usage;
    this.#fromSeconds = fromMs / 1000;
    this.#times = Array.from(
      { length: buckets },
      (_, index) => this.#fromSeconds + index * usage.step_seconds,
    );
  }

  chart(kind: ChartData['kind'], series: readonly ChartSeries[]): ChartData {
    return { kind, times: this.#times, stepSeconds: this.#usage.step_seconds, series };
  }

  parts(parts: readonly Part[]): readonly ChartSeries[] {
    return parts.map(({ label, colour, pick }) => ({
      label,
      colour,
      values: this.#row(this.#usage.data, pick),
    }));
  }

  /** In the order of their names, so that a group keeps its colour in all charts. */
  groups(pick: Pick): readonly ChartSeries[] {
    const byGroup = groupBy(this.#usage.data, groupName);
    const sorted = [...byGroup].toSorted(([a], [b]) => a.localeCompare(b));
    return sorted.map(([label, data], index) => ({
      label,
      colour: seriesColour(index),
      values: this.#row(data, pick),
    }));
  }

  #row(data: readonly UsageBucket[], pick: Pick): readonly (number | null)[] {
    const row: (number | null)[] = this.#times.map(() => null);
    for (const bucket of data) {
      const index = Math.floor((Date.parse(bucket.at) / 1000 - this.#fromSeconds) / this.#usage.step_seconds);
      if (index >= 0 && index < row.length) row[index] = pick(bucket);
    }
    return row;
  }
}
