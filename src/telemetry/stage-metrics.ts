import * as prom from 'prom-client';
import type { StageMeter } from '../plugin/internal.js';
import type { PrometheusMetrics } from './metrics.js';

/** Upper bounds in seconds: most stages take microseconds, a few wait for something. */
const bounds = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60] as const;

/** Names of the metrics of stages. */
export const stageMetricNames = {
  seconds: 'gw2api_stage_seconds',
  faults: 'gw2api_stage_faults_total',
  skips: 'gw2api_stage_skips_total',
} as const;

/**
 * Metrics of stages, in every pipeline of this process. Times are added up in arrays, without a look-up of
 * labels for each request.
 */
export class StageMetrics {
  readonly #meters = new Map<string, Meter>();
  readonly #faults;
  readonly #skips;

  constructor(metrics: PrometheusMetrics) {
    this.#faults = metrics.counter(stageMetricNames.faults, faultsHelp, ['stage']);
    this.#skips = metrics.counter(stageMetricNames.skips, skipsHelp, ['stage']);
    metrics.register((registry) => new StageSeconds(this.#meters, registry));
  }

  /** Meter of a stage by its name; stages of one name share theirs, as do those beyond the max number. */
  of(stage: string): StageMeter {
    const label = this.#meters.has(stage) || this.#meters.size < maxStages ? stage : 'other';
    const meter = this.#meters.get(label) ?? new Meter();
    this.#meters.set(label, meter);
    return {
      time: (ms) => meter.add(ms / 1000),
      fault: () => this.#faults.add({ stage: label }),
      skip: () => this.#skips.add({ stage: label }),
    };
  }
}

const faultsHelp =
  'Requests that a stage has failed by an error that was no answer, or by running out of time.';
const skipsHelp = 'Requests that went on without a stage that had failed, as its onError says.';

const maxStages = 1000;

/** Times of one stage. */
class Meter {
  /** Number of times up to each bound, and above all of them. */
  readonly counts = new Float64Array(bounds.length + 1);
  seconds = 0;

  add(seconds: number): void {
    this.seconds += seconds;
    let at = 0;
    for (const bound of bounds) {
      if (seconds <= bound) break;
      at += 1;
    }
    this.counts[at] = (this.counts[at] ?? 0) + 1;
  }
}

type Measured = Awaited<ReturnType<prom.Histogram<'stage'>['get']>>;

/** Histogram that reads its values from the meters when it is scraped. */
class StageSeconds extends prom.Histogram<'stage'> {
  readonly #meters: ReadonlyMap<string, Meter>;

  constructor(meters: ReadonlyMap<string, Meter>, registry: prom.Registry) {
    super({
      name,
      help,
      labelNames: ['stage'],
      buckets: [...bounds],
      registers: [registry],
    });
    this.#meters = meters;
  }

  override async get(): Promise<Measured> {
    const values = [...this.#meters].flatMap(([stage, meter]) => valuesOf(stage, meter));
    // Its declaration has a `collect`, which prom-client leaves out.
    return { name, help, type: histogram, aggregator: 'sum', values } as Measured;
  }

  /** The form that the text is written from; prom-client calls it in place of `get`. */
  getForPromString(): Promise<Measured> {
    return this.get();
  }
}

const name = stageMetricNames.seconds;
const help = "A stage's own time in a request: before it has called next, and after that has returned.";
const histogram = 'histogram' as unknown as prom.MetricType; // its declaration has numbers for the words

function valuesOf(stage: string, { counts, seconds }: Meter) {
  let total = 0;
  const buckets = [...counts].map((count, at) => {
    total += count;
    const labels = { le: bounds[at] ?? '+Inf', stage };
    return { labels, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels: { stage }, value: seconds, metricName: `${name}_sum` },
    { labels: { stage }, value: total, metricName: `${name}_count` },
  ];
}
