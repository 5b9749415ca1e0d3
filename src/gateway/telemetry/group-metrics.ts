import type { WorkerGroup } from '../options.js';
import type { PrometheusMetrics, Measurement } from './metrics.js';
import { stageMetricNames } from './stage-metrics.js';

/** Metrics of all processes of a gateway; without a group of workers those of this one. */
export class GroupMetrics {
  readonly #own: PrometheusMetrics;
  readonly #group: WorkerGroup | undefined;

  constructor(own: PrometheusMetrics, group: WorkerGroup | undefined) {
    this.#own = own;
    this.#group = group;
  }

  /** Text of `GET /metrics`. */
  async text(): Promise<string> {
    return this.#group ? this.#own.textOf(await this.#group.measurements()) : this.#own.text();
  }

  /** Times, faults and skips of the stages since the start, by name. */
  async stageTimes(): Promise<ReadonlyMap<string, StageTimes>> {
    if (this.#group) return stageTimes(await this.#group.measurements());
    return stageTimes([await this.#own.measurementsOf(Object.values(stageMetricNames))]);
  }
}

/** Times, faults and skips of a stage since the start, in all processes of a gateway. */
interface StageTimes {
  /** Requests that have passed it. */
  readonly count: number;
  /**
   * Median of its own time in milliseconds, within the resolution of the histogram's buckets; null without requests.
   */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly faults: number;
  readonly skips: number;
}

/** Times by the name of the stage, from the measurements of each process. */
export function stageTimes(processes: readonly (readonly Measurement[])[]): ReadonlyMap<string, StageTimes> {
  const sums = new Map<string, Sums>();
  for (const metric of processes.flat()) addMetric(metric, sums);
  return new Map([...sums].map(([stage, own]) => [stage, timesOf(own)]));
}

interface Sums {
  /** Number of times up to each bound in seconds; Infinity has all of them. */
  readonly upTo: Map<number, number>;
  faults: number;
  skips: number;
}

function addMetric({ name, values }: Measurement, sums: Map<string, Sums>): void {
  for (const { value, labels, metricName } of values) {
    const stage = String(labels['stage']);
    const own = sums.get(stage) ?? { upTo: new Map<number, number>(), faults: 0, skips: 0 };
    if (name === stageMetricNames.faults) own.faults += value;
    else if (name === stageMetricNames.skips) own.skips += value;
    else if (name !== stageMetricNames.seconds) continue;
    else if (metricName === `${name}_bucket`) {
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      own.upTo.set(bound, (own.upTo.get(bound) ?? 0) + value);
    }
    sums.set(stage, own);
  }
}

function timesOf({ upTo, faults, skips }: Sums): StageTimes {
  const buckets = [...upTo].toSorted(([a], [b]) => a - b);
  const count = buckets.at(-1)?.[1] ?? 0;
  const [p50Ms, p95Ms] = count === 0 ? [null, null] : [quantileMs(buckets, 0.5), quantileMs(buckets, 0.95)];
  return { count, p50Ms, p95Ms, faults, skips };
}

/** Quantile as in Prometheus: linear within its bucket; above the last bound, that bound. */
function quantileMs(buckets: readonly (readonly [number, number])[], share: number): number {
  const rank = share * (buckets.at(-1)?.[1] ?? 0);
  let [below, before] = [0, 0];
  for (const [bound, total] of buckets) {
    if (bound === Infinity) break;
    if (total >= rank) return 1000 * (below + (bound - below) * ((rank - before) / (total - before)));
    [below, before] = [bound, total];
  }
  return 1000 * below;
}
