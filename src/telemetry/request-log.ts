import type {
  Counter,
  Histogram,
  Logger,
  Metrics,
  Outcome,
  StagePlace,
  TimedCall,
  Usage,
} from '../plugin/internal.js';

/** Log record of one request, made when its response has closed. Never a body, never a secret. */
export interface RequestRecord {
  /** The request's id, as its other log lines have it. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly format: string;
  readonly status: number;
  readonly outcome: Outcome;
  readonly ms: number;
  readonly key: string | undefined;
  /** Model that the caller asked for. */
  readonly model: string | undefined;
  /** Model that answered, if it is another one. */
  readonly answeredBy: string | undefined;
  readonly slot: string | undefined;
  readonly attempts: number | undefined;
  /** Every upstream call, with the code of its failure; the last may be under way. */
  readonly calls: readonly Pick<TimedCall, 'slot' | 'code'>[];
  /** The code of the upstream's failure that broke off an answer after it had begun. */
  readonly brokenBy: string | undefined;
  readonly delivery: string | undefined;
  readonly billed: Usage;
  readonly masked: Usage;
  /** The code of the error that was the answer, or that broke it off. */
  readonly code: string | undefined;
  /** Stage that the request was waiting for when its response closed, and the stage's own time until then. */
  readonly waitingFor: { readonly place: StagePlace; readonly ms: number } | undefined;
  /** The upstream's own name for the request. */
  readonly upstreamRequestId: string | undefined;
}

const durationBuckets = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** One log line and the metrics of each request. */
export class RequestLog {
  readonly #requests: Counter;
  readonly #tokens: Counter;
  readonly #seconds: Histogram;
  readonly #attempts: Counter;
  readonly #failures: Counter;

  constructor(metrics: Metrics) {
    const labels = ['operation', 'format', 'slot', 'status', 'outcome'];
    this.#requests = metrics.counter('gw2api_requests_total', 'Requests whose response has closed.', labels);
    this.#tokens = metrics.counter('gw2api_tokens_total', 'Tokens as billed upstream.', ['slot', 'kind']);
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
    this.#seconds = metrics.histogram(
      'gw2api_request_seconds',
      'Time from the first byte of a request that called a model to the close of its response.',
      ['operation', 'format'],
      durationBuckets,
    );
  }

  /** Writes the line: info for what a caller asked for, debug for health and the like. */
  write(log: Logger, record: RequestRecord): void {
    const line = lineOf(record);
    if (record.operation === 'other' && record.status < 400) log.debug(line, 'request');
    else log.info(line, 'request');
    this.#measure(record);
  }

  #measure(record: RequestRecord): void {
    const { operation, format, slot = '', status, outcome, ms, billed } = record;
    this.#requests.add({ operation, format, slot, status: String(status), outcome });
    this.#countCalls(record);
    if (operation === 'generate' && record.calls.length > 0)
      this.#seconds.observe({ operation, format }, ms / 1000);
    const tokens = tokensOf(billed);
    for (const kind of kindsOfTokens) if (tokens[kind] > 0) this.#tokens.add({ slot, kind }, tokens[kind]);
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
      if (code !== undefined) this.#failures.add({ slot, code: codeLabel(code) });
    }
  }
}

/** Error code as a label: upstreams may invent codes, and each new label stays in memory. */
function codeLabel(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : 'other';
}

/** Log line, built field by field: a rest pattern over the record would be the slowest part of the line. */
function lineOf(record: RequestRecord): object {
  const { billed, masked, waitingFor } = record;
  return {
    id: record.id,
    method: record.method,
    path: record.path,
    operation: record.operation,
    format: record.format,
    status: record.status,
    outcome: record.outcome,
    ms: record.ms,
    key: record.key,
    model: record.model,
    slot: record.slot,
    attempts: record.attempts,
    delivery: record.delivery,
    code: record.code,
    upstreamRequestId: record.upstreamRequestId,
    tokens: tokensOf(billed),
    ...(record.answeredBy !== undefined && { answeredBy: record.answeredBy }),
    ...(waitingFor && { stage: waitingFor.place.stage, stageMs: Math.round(waitingFor.ms) }),
    ...(hasTokens(masked) && { masked: tokensOf(masked) }),
  };
}

const kindsOfTokens = ['input', 'cache_read', 'cache_write', 'output'] as const;

function hasTokens(usage: Usage): boolean {
  return Object.keys(usage).length > 0;
}

/** The four counts that cost money; an upstream that does not know one may say -1. */
function tokensOf(usage: Usage): Readonly<Record<(typeof kindsOfTokens)[number], number>> {
  return {
    input: Math.max(0, usage.input_tokens ?? 0),
    cache_read: Math.max(0, usage.cache_read_input_tokens ?? 0),
    cache_write: Math.max(0, usage.cache_creation_input_tokens ?? 0),
    output: Math.max(0, usage.output_tokens ?? 0),
  };
}
