import { perOutputTokenMs } from '../../state/ledger/latency/latency.js';
import type { CappedHistogram } from '../../gateway/telemetry/capped-metrics.js';
import { lazy } from '../../kit/once.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import type { RequestRecord } from '../../gateway/settle/request-record.js';

const labels = ['model', 'slot', 'format'];

/** Max combinations of model, slot and format in each histogram. */
const capped = { maxSets: 500 };

/** Bounds in seconds. */
const bounds = {
  firstToken: [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 60],
  perToken: [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
  queue: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  request: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
} as const;

/** Labels of the times of a model call. */
type TimedCall = Readonly<Record<'model' | 'slot' | 'format', string>>;

/** Histograms of the times of model calls. */
export class LatencyMetrics {
  readonly #firstToken: CappedHistogram;
  readonly #perToken: CappedHistogram;
  readonly #queue: CappedHistogram;
  readonly #request: CappedHistogram;

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

  /** Adder of requests with these labels, which have called a model or have waited for a slot. */
  series(operation: string, call: TimedCall): (record: RequestRecord) => void {
    if (operation !== 'generate') return () => undefined;
    const queue = lazy(() => this.#queue.series(call));
    const request = lazy(() => this.#request.series({ operation, ...call }));
    const firstToken = lazy(() => this.#firstToken.series(call));
    const perToken = lazy(() => this.#perToken.series(call));
    return (record) => {
      const { ms, queueMs, firstTokenMs, calls } = record;
      queue().observe(queueMs / 1000);
      if (calls.length > 0) request().observe(ms / 1000);
      if (firstTokenMs !== undefined) firstToken().observe(firstTokenMs / 1000);
      const perTokenMs = perOutputTokenMs(record, record.billed.output_tokens ?? 0);
      if (perTokenMs !== undefined) perToken().observe(perTokenMs / 1000);
    };
  }
}
