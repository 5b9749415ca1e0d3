import { perOutputTokenMs } from '../../state/ledger/latency/latency.js';
import type { Histogram } from '../../plugin/core.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';

const labels = ['model', 'slot', 'format'];

/** Combinations of model, slot and format that are told apart, in each histogram. */
const capped = { maxSets: 500 };

/** Bounds in seconds. */
const bounds = {
  firstToken: [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 60],
  perToken: [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
  queue: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  request: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
} as const;

/** Histograms of the times of model calls. */
export class LatencyMetrics {
  readonly #firstToken: Histogram;
  readonly #perToken: Histogram;
  readonly #queue: Histogram;
  readonly #request: Histogram;

  constructor(metrics: PrometheusMetrics) {
    this.#firstToken = metrics.histogram(
      'gw2api_time_to_first_token_seconds',
      'Time from the first byte of a request to the first content of its answer.',
      labels,
      bounds.firstToken,
      capped,
    );
    this.#perToken = metrics.histogram(
      'gw2api_time_per_output_token_seconds',
      'Time for each token of a complete answer after the first one.',
      labels,
      bounds.perToken,
      capped,
    );
    this.#queue = metrics.histogram(
      'gw2api_queue_wait_seconds',
      'Time that a request has waited for a place in a slot; 0 where one was free.',
      labels,
      bounds.queue,
      capped,
    );
    this.#request = metrics.histogram(
      'gw2api_request_seconds',
      'Time from the first byte of a request that called a model to the close of its response.',
      ['operation', ...labels],
      bounds.request,
      capped,
    );
  }

  /** Adds a request that has called a model, or has waited for a slot. */
  add(record: RequestRecord, model: string): void {
    const { operation, format, slot = '', ms, queueMs, firstTokenMs, calls } = record;
    if (operation !== 'generate') return;
    const values = { model, slot, format };
    this.#queue.observe(values, queueMs / 1000);
    if (calls.length > 0) this.#request.observe({ operation, model, slot, format }, ms / 1000);
    if (firstTokenMs !== undefined) this.#firstToken.observe(values, firstTokenMs / 1000);
    const perTokenMs = perOutputTokenMs(record, record.billed.output_tokens ?? 0);
    if (perTokenMs !== undefined) this.#perToken.observe(values, perTokenMs / 1000);
  }
}
