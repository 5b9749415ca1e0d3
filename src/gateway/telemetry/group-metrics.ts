import type { WorkerGroup } from '../options.js';
import type { PrometheusMetrics } from './metrics.js';
import { stageMetricNames } from './stage-metrics.js';
import { stageTimes, type StageTimes } from './stage-times.js';

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
