import type { StageMeter } from '../../plugin/core.js';
import { Meter, registerHistogram } from './metered-histogram.js';
import type { PrometheusMetrics } from './metrics.js';

/** Upper bounds in seconds: most stages take microseconds, a few wait for I/O. */
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
    const shape = { name: stageMetricNames.seconds, help: secondsHelp, labels: ['stage'], buckets: bounds };
    const meters = () => Array.from(this.#meters, ([stage, meter]) => ({ labels: { stage }, meter }));
    metrics.register((registry) => registerHistogram(shape, meters, registry));
  }

  /** Meter of a stage by its name; stages of one name share theirs, as do those beyond the max number. */
  of(stage: string): StageMeter {
    const label = this.#meters.has(stage) || this.#meters.size < maxStages ? stage : 'other';
    const meter = this.#meters.get(label) ?? new Meter(bounds);
    this.#meters.set(label, meter);
    // From 0 on: Prometheus sees no increase in a counter that begins with its first fault.
    for (const counter of [this.#faults, this.#skips]) counter.add({ stage: label }, 0);
    return {
      time: (ms) => meter.add(ms / 1000),
      fault: () => this.#faults.add({ stage: label }),
      skip: () => this.#skips.add({ stage: label }),
    };
  }
}

const faultsHelp =
  'Requests that a stage failed by an error that was not an answer, or by running out of time.';
const skipsHelp = 'Requests that continued without a failed stage, as its onError allows.';

const maxStages = 1000;

const secondsHelp = "A stage's own time in a request: before it calls next, and after next has returned.";
