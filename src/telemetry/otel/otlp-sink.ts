import { sleep, timeoutSignal, within, type Clock, type Logger } from '../../plugin/internal.js';
import { exportJson, spansJson, type Service } from './otlp-json.js';
import { SpanQueue } from './span-queue.js';
import type { SpanSink } from './tracing.js';

interface OtlpOptions {
  /** Address of the collector, with or without `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: Service;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Sink that sends spans to a collector, as OTLP in JSON over HTTP, in batches from a bounded queue. */
export function openOtlpSink({ url, headers, service, log, clock }: OtlpOptions): SpanSink {
  const lost = lossReport(log, clock);
  const closing = new AbortController();
  const target = {
    url: tracesUrl(url),
    headers: { ...headers, 'content-type': 'application/json' },
    clock,
    signal: closing.signal,
  };
  const queue = new SpanQueue({
    clock,
    send: (spans, count) =>
      exported(exportJson(service, spans), target).catch((error: unknown) => lost(count, error)),
    onDropped: (count) => lost(count, new Error('The queue of spans is full.')),
  });
  return {
    add(spans) {
      const offsetMs = clock.now() - performance.now(); // `timeOrigin` misses what sets the clock later
      queue.add(spansJson(spans, offsetMs), spans.length);
    },
    async close() {
      // A failure has been logged; a collector that gives no answer does not keep the process.
      await within(queue.close(), closeMs, 'no answer').catch(() => closing.abort());
    },
  };
}

const closeMs = 3000;

function tracesUrl(url: string): string {
  const base = url.replace(/\/+$/, '');
  return base.endsWith('/v1/traces') ? base : `${base}/v1/traces`;
}

/** Logs lost spans, at most once a minute. */
function lossReport(log: Logger, { monotonicMs }: Clock) {
  let loggedMs = -Infinity;
  let spans = 0;
  return (count: number, error: unknown): void => {
    spans += count;
    if (monotonicMs() - loggedMs < reportEveryMs) return;
    loggedMs = monotonicMs();
    log.warn({ err: error, spans }, 'Spans could not be sent to telemetry.otlp.');
    spans = 0;
  };
}

const reportEveryMs = 60_000;

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Sends an export; a failure that OTLP calls transient is tried again for some seconds. Rejects with the last one. */
async function exported(json: string, target: Target): Promise<void> {
  const { clock, signal } = target;
  const body = Buffer.from(json); // of a text, fetch makes two more
  const untilMs = clock.monotonicMs() + exportMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const failure = await failureOf(body, target);
    if (!failure) return;
    const isLast = !failure.isTransient || clock.monotonicMs() + pauseMs >= untilMs;
    if (isLast) throw failure.error;
    await sleep(clock, pauseMs, signal);
    if (signal.aborted) throw failure.error;
  }
}

const exportMs = 10_000;
const firstPauseMs = 1000;
const answerMs = 5000;

interface Failure {
  readonly error: unknown;
  readonly isTransient: boolean;
}

/** One attempt; undefined where the collector has taken the spans. */
async function failureOf(
  body: Buffer<ArrayBuffer>,
  { url, headers, clock, signal }: Target,
): Promise<Failure | undefined> {
  try {
    const limit = AbortSignal.any([signal, timeoutSignal(clock, answerMs)]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: limit });
    if (response.body) await drained(response.body); // or its connection could not be used again
    if (response.ok) return undefined;
    return {
      error: new Error(`The collector answered ${response.status}.`),
      isTransient: transientStatuses.has(response.status),
    };
  } catch (error) {
    return { error, isTransient: true };
  }
}

/** Reads an answer to its end, up to a max length. */
async function drained(body: AsyncIterable<Uint8Array>): Promise<void> {
  let left = maxAnswerBytes;
  for await (const { length } of body) if ((left -= length) < 0) return;
}

const maxAnswerBytes = 64 * 1024;

const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
