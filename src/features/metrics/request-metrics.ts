import type { CappedCounter } from '../../gateway/telemetry/capped-metrics.js';
import { growingCache } from '../../kit/growing-cache.js';
import { lazy } from '../../kit/once.js';
import { LatencyMetrics } from './latency-metrics.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import { kindsOfTokens, tokensOf, type RequestRecord } from '../../gateway/settle/request-record.js';

interface RequestMetricsOptions {
  readonly metrics: PrometheusMetrics;
  /** Catalog id of a model's name; undefined for unknown names. */
  readonly modelId: (name: string) => string | undefined;
}

/** Counters and histograms of requests, added to when a response has closed. */
export class RequestMetrics {
  readonly #models: ModelLabels;
  readonly #latency: LatencyMetrics;
  readonly #requests: CappedCounter;
  readonly #tokens: CappedCounter;
  readonly #shown: CappedCounter;
  readonly #attempts: CappedCounter;
  readonly #failures: CappedCounter;
  readonly #calls: CappedCounter;
  readonly #known = growingCache<RequestSeries>(maxKnown);

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
    this.#calls = metrics.counter(
      'gw2api_stage_calls_total',
      'Calls of models that stages made themselves; their tokens and upstream calls count as those of requests.',
      ['stage', 'label', 'outcome'],
    );
  }

  add(record: RequestRecord): void {
    const { calls, queueMs, firstTokenMs } = record;
    const hasCalled = calls.length > 0 || queueMs > 0;
    const model = hasCalled ? this.#models.of(record.model ?? '', firstTokenMs !== undefined) : '';
    const series = this.#seriesOf(record, model);
    series.request.add();
    if (!hasCalled) return;
    this.#countCalls(record, series);
    series.addTimes(record);
    countTokens(record, series);
  }

  /** Adds a call that a stage made itself; requests alone have their times measured. */
  addCall(record: RequestRecord, by: { readonly stage: string; readonly label: string }): void {
    const { slot = '', outcome, model: asked = '', firstTokenMs } = record;
    this.#calls.add({ ...by, outcome });
    if (record.calls.length === 0) return;
    const model = this.#models.of(asked, firstTokenMs !== undefined);
    const tokens = (counter: CappedCounter) => (kind: TokenKind) =>
      lazy(() => counter.series({ model, slot, kind }));
    const attempt = lazy(() => this.#attempts.series({ slot }));
    this.#countCalls(record, { slot, attempt });
    countTokens(record, {
      billed: ofEachKind(tokens(this.#tokens)),
      shown: ofEachKind(tokens(this.#shown)),
    });
  }

  /** Time series of all requests with the labels of this one. */
  #seriesOf({ operation, format, slot = '', status, outcome }: RequestRecord, model: string): RequestSeries {
    const key = `${operation}\0${format}\0${slot}\0${status}\0${outcome}\0${model}`;
    const known = this.#known.get(key);
    if (known) return known;
    const tokens = (counter: CappedCounter) => (kind: TokenKind) =>
      lazy(() => counter.series({ model, slot, kind }));
    const series = {
      slot,
      request: this.#requests.series({ operation, format, slot, status: String(status), outcome }),
      attempt: lazy(() => this.#attempts.series({ slot })),
      addTimes: this.#latency.series(operation, { model, slot, format }),
      billed: ofEachKind(tokens(this.#tokens)),
      shown: ofEachKind(tokens(this.#shown)),
    };
    this.#known.set(key, series);
    return series;
  }

  /** Counts the upstream calls. A call abandoned by its caller is not a failure of the slot. */
  #countCalls(
    { calls, outcome, brokenBy }: RequestRecord,
    { slot: own, attempt }: Pick<RequestSeries, 'slot' | 'attempt'>,
  ): void {
    const last = calls.at(-1);
    for (const call of calls) {
      const { slot } = call;
      if (slot === own) attempt().add();
      else this.#attempts.add({ slot });
      const isLast = call === last;
      const code =
        (isLast && outcome === 'abandoned' ? undefined : call.code) ?? (isLast ? brokenBy : undefined);
      if (code !== undefined) this.#failures.add({ slot, code });
    }
  }
}

type TokenKind = (typeof kindsOfTokens)[number];
type Series = ReturnType<CappedCounter['series']>;
type OfEachKind = Readonly<Record<TokenKind, () => Series>>;

/** Time series of requests that share all labels; most are opened when they are first added to. */
interface RequestSeries {
  readonly slot: string;
  readonly request: Series;
  readonly attempt: () => Series;
  readonly addTimes: (record: RequestRecord) => void;
  readonly billed: OfEachKind;
  readonly shown: OfEachKind;
}

/** Max combinations of labels whose series are kept. */
const maxKnown = 1000;

function ofEachKind(make: (kind: TokenKind) => () => Series): OfEachKind {
  return {
    input: make('input'),
    cache_read: make('cache_read'),
    cache_write: make('cache_write'),
    output: make('output'),
  };
}

function countTokens(
  { billed, masked }: RequestRecord,
  series: Pick<RequestSeries, 'billed' | 'shown'>,
): void {
  const tokens = tokensOf(billed);
  const hidden = tokensOf(masked);
  for (const kind of kindsOfTokens) {
    if (tokens[kind] === 0) continue;
    series.billed[kind]().add(tokens[kind]);
    series.shown[kind]().add(Math.max(0, tokens[kind] - hidden[kind]));
  }
}

/**
 * Models as labels of metrics. Callers write the names: those of the catalog are labels, others once an upstream
 * has answered for them, up to a max number; the rest is `other`.
 */
export class ModelLabels {
  readonly #modelId: (name: string) => string | undefined;
  readonly #answered = new Set<string>();

  /** `modelId`: catalog id of a name; undefined for unknown names. */
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
