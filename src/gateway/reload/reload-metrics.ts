import type { Counter, Histogram } from '../../plugin/core.js';
import type { PrometheusMetrics } from '../telemetry/metrics.js';

const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Metrics of the reloads of one process: how many, how long, and whether the config on disk is the one in force. */
export class ReloadMetrics {
  readonly #reloads: Counter;
  readonly #seconds: Histogram;
  readonly #now: () => number;
  #takenAtMs: number;
  #isRefused = false;

  /** Metrics for the config of the start, in force until a reload. */
  constructor(metrics: PrometheusMetrics, now: () => number) {
    this.#now = now;
    this.#takenAtMs = now();
    this.#reloads = metrics.counter(
      'gw2api_config_reloads_total',
      'Reloads of the config, by outcome: taken, or refused with the old one left in force. Of each worker.',
      ['outcome'],
    );
    for (const outcome of ['taken', 'refused']) this.#reloads.add({ outcome }, 0);
    this.#seconds = metrics.histogram(
      'gw2api_config_reload_seconds',
      'Duration of a reload, from reading the config to the swap.',
      [],
      bounds,
    );
    this.#addGauges(metrics);
  }

  taken(sinceMs: number): void {
    this.#takenAtMs = this.#now();
    this.#isRefused = false;
    this.#reloads.add({ outcome: 'taken' });
    this.#seconds.observe({}, Math.max(0, this.#takenAtMs - sinceMs) / 1000);
  }

  refused(): void {
    this.#isRefused = true;
    this.#reloads.add({ outcome: 'refused' });
  }

  #addGauges(metrics: PrometheusMetrics): void {
    metrics.gauge(
      'gw2api_config_last_reload_successful',
      '0 after a reload that was refused, else 1.',
      [],
      () => [{ labels: {}, value: Number(!this.#isRefused) }],
      { across: 'min' },
    );
    metrics.gauge(
      'gw2api_config_last_reload_success_timestamp_seconds',
      'Unix time at which the current config came into force.',
      [],
      () => [{ labels: {}, value: this.#takenAtMs / 1000 }],
      { across: 'max' },
    );
  }
}
