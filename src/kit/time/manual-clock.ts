import type { Clock } from './clock.js';

/** Clock fixed at 2026-01-01 until it is moved; its timers fire on the way, in order. */
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

  /** Time of the next timer, unix milliseconds; undefined if none is set. */
  get nextMs(): number | undefined {
    return this.#next()?.atMs;
  }

  /** Moves the clock by `ms`, over the timers that end by then, those set on the way included. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    while ((this.nextMs ?? Infinity) <= untilMs) this.fireNext();
    this.moveTo(untilMs);
  }

  /** Moves to the next timer and calls it; of simultaneous ones, the one that was set first. */
  fireNext(): void {
    const next = this.#next();
    if (!next) return;
    this.#timers.delete(next);
    this.moveTo(next.atMs);
    next.callback();
  }

  /** Moves on without calling timers; never back. */
  moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (!next || timer.atMs < next.atMs) next = timer;
    return next;
  }
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}
