import { Pool } from 'undici';
import { within } from '../../kit/within.js';
import type { Clock, Logger } from '../../plugin/index.js';
import { failureOfExport, type ExportTarget } from './otlp-export.js';
import { exportFrame, spansJson, type Service } from './otlp-json.js';
import { targetOf } from './otlp-target.js';
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
  const losses = new SpanLosses(log, clock);
  const closing = new AbortController();
  const address = targetOf(url, { 'user-agent': `gw2api/${service.version}`, ...headers });
  const dispatcher = new Pool(new URL(address.url).origin, { connections: 1 });
  const target: ExportTarget = { ...address, dispatcher, clock, signal: closing.signal };
  const queue = new SpanQueue({
    frame: exportFrame(service),
    clock,
    async send(body, spans) {
      const failure = await failureOfExport(body, target);
      if (failure) losses.add(Math.min(failure.refused ?? spans, spans), failure.error);
      return !failure;
    },
    onDropped: (spans) => losses.add(spans, new Error('The span queue is full.')),
  });
  return {
    add(spans) {
      const offsetMs = clock.now() - performance.now(); // `timeOrigin` misses what sets the clock later
      queue.add(spansJson(spans, offsetMs), spans.length);
    },
    async close() {
      const closed = queue.close();
      const reason = new Error('The gateway closed before the collector answered.');
      await within(closed, closeMs, 'no answer').catch(() => closing.abort(reason));
      await closed; // at once, as every export fails now
      await dispatcher.destroy();
      losses.report();
    },
  };
}

const closeMs = 3000;

/** Log of lost spans: the first at once, further ones once a minute. */
class SpanLosses {
  readonly #log: Logger;
  readonly #clock: Clock;
  #spans = 0;
  #error: unknown;
  #cancelTimer: (() => void) | undefined;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add(spans: number, error: unknown): void {
    this.#spans += spans;
    this.#error = error;
    if (!this.#cancelTimer) this.report();
  }

  /** Logs those that are not in the log yet. */
  report(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#spans === 0) return;
    this.#log.warn({ err: this.#error, spans: this.#spans }, 'Spans could not be sent to telemetry.otlp.');
    this.#spans = 0;
    this.#error = undefined;
    this.#cancelTimer = this.#clock.setTimer(() => this.report(), reportEveryMs);
  }
}

const reportEveryMs = 60_000;
