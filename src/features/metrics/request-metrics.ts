import type { Counter } from '../../plugin/core.js';
import { LatencyMetrics } from './latency-metrics.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import { kindsOfTokens, tokensOf, type RequestRecord } from '../../gateway/settle/request-record.js';

interface RequestMetricsOptions {
  readonly metrics: PrometheusMetrics;
  /** Catalog id of a model's name; undefined for names that the catalog does not have. */
  readonly modelId: (name: string) => string | undefined;
}

/** Counters and histograms of requests, added to when a response has closed. */
export class RequestMetrics {
  readonly #models: ModelLabels;
  readonly #latency: LatencyMetrics;
  readonly #requests: Counter;
  readonly #tokens: Counter;
  readonly #shown: Counter;
  readonly #attempts: Counter;
  readonly #failures: Counter;

  constructor({ metrics, modelId }: RequestMetricsOptions) {
    this.#models = new ModelLabels(modelId);
    this.#latency = new LatencyMetrics(metrics);
    const labels = ['operation', 'format', 'slot', 'status', 'outcome'];
    this.#requests = metrics.counter('gw2api_requests_total', 'Requests whose response has closed.', labels);
    const ofTokens = ['model', 'slot', 'kind'];
    this.#tokens = metrics.counter('gw2api_tokens_total', 'Tokens as billed upstream.', ofTokens);
    this.#shown = metrics.counter('gw2api_shown_tokens_total', 'Tokens as shown to callers.', ofTokens);
    this.#attempts = metrics.counter(
      'gw2api_upstream_attempts_total',
      'Upstream calls, each counted for the slot that it went to.',
      ['slot'],
    );
    this.#failures = metrics.counter(
      'gw2api_upstream_failures_total',
      'Upstream calls that failed, each counted for the slot that it went to.',
      ['slot', 'code'],
    );
  }

  add(record: RequestRecord): void {
    const { operation, format, slot = '', status, outcome, calls } = record;
    this.#requests.add({ operation, format, slot, status: String(status), outcome });
    if (calls.length === 0 && record.queueMs === 0) return;
    const model = this.#models.of(record.model ?? '', record.firstTokenMs !== undefined);
    this.#countCalls(record);
    this.#latency.add(record, model);
    this.#countTokens(record, model);
  }

  #countTokens({ billed, masked, slot = '' }: RequestRecord, model: string): void {
    const tokens = tokensOf(billed);
    const hidden = tokensOf(masked);
    for (const kind of kindsOfTokens) {
      if (tokens[kind] === 0) continue;
      const labels = { model, slot, kind };
      this.#tokens.add(labels, tokens[kind]);
      this.#shown.add(labels, Math.max(0, tokens[kind] - hidden[kind]));
    }
  }

  /** Counts the upstream calls. A call abandoned by its caller is not a failure of the slot. */
  #countCalls({ calls, outcome, brokenBy }: RequestRecord): void {
    const last = calls.at(-1);
    for (const call of calls) {
      const { slot } = call;
      this.#attempts.add({ slot });
      const isLast = call === last;
      const code =
        (isLast && outcome === 'abandoned' ? undefined : call.code) ?? (isLast ? brokenBy : undefined);
      if (code !== undefined) this.#failures.add({ slot, code });
    }
  }
}

/**
 * Models as labels of metrics. Callers write the names: those of the catalog are labels, others once an upstream
 * has answered for them, up to a max number; the rest is `other`.
 */
export class ModelLabels {
  readonly #modelId: (name: string) => string | undefined;
  readonly #answered = new Set<string>();

  /** `modelId`: catalog id of a name; undefined for names that the catalog does not have. */
  constructor(modelId: (name: string) => string | undefined) {
    this.#modelId = modelId;
  }

  of(name: string, hasAnswered: boolean): string {
    const id = this.#modelId(name);
    if (id !== undefined || name === '') return id ?? '';
    if (this.#answered.has(name)) return name;
    if (!hasAnswered || this.#answered.size >= maxAnswered || !isPlain(name)) return 'other';
    this.#answered.add(name);
    return name;
  }
}

const maxAnswered = 100;

function isPlain(name: string): boolean {
  return /^[\w.:/@-]{1,100}$/.test(name);
}
