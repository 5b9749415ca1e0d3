import type { Clock } from '../plugin/index.js';

/** Clock that stands at 2026-01-01 until it is moved; its timers fire on the way, in order. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #beganMs: number;
  readonly #timers = new Set<Timer>();

  /** `nowMs`: unix milliseconds. */
  constructor(nowMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
    this.#beganMs = nowMs;
  }

  readonly now = (): number => this.#nowMs;

  readonly monotonicMs = (): number => this.#nowMs - this.#beganMs;

  readonly setTimer: Clock['setTimer'] = (callback, ms) => {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Number of pending timers. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves the clock by `ms`, over the timers that end by then, those set on the way included. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.callback();
    }
    this.#nowMs = untilMs;
  }

  /** The pending timer that ends first, if it ends by `untilMs`. */
  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.atMs <= untilMs && (!next || timer.atMs < next.atMs)) next = timer;
    return next;
  }
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}
