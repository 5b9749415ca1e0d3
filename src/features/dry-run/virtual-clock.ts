import type { Clock } from '../../plugin/index.js';

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Clock of a dry run: it stands still until it is moved, and fires its timers in order. */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  /** `startMs`: unix milliseconds. */
  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  readonly now = (): number => this.#nowMs;

  readonly monotonicMs = (): number => this.#nowMs - this.#startMs;

  readonly setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { atMs: this.#nowMs + Math.max(ms, 0), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Time of the next timer, unix milliseconds; undefined if none is set. */
  get nextMs(): number | undefined {
    return this.#next()?.atMs;
  }

  /** Moves to the next timer and calls it; of those of one time, the one that was set first. */
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
