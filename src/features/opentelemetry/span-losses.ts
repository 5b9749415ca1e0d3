import type { Clock, Logger } from '../../plugin/index.js';

/** Log of lost spans: the first at once, further ones once a minute. */
export class SpanLosses {
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
