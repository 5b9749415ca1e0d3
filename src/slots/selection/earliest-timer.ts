import type { SetTimer } from '../timers.js';

/** Timer that calls `wake` at the earliest of the given times; each `arm` replaces the one before. */
export class EarliestTimer {
  readonly #setTimer: SetTimer;
  readonly #wake: () => void;
  #cancel: (() => void) | undefined;
  #atMs: number | undefined;

  constructor(setTimer: SetTimer, wake: () => void) {
    this.#setTimer = setTimer;
    this.#wake = wake;
  }

  /** Arms the timer; without times, cancels it. */
  arm(timesMs: readonly number[], nowMs: number): void {
    const atMs = timesMs.length > 0 ? Math.min(...timesMs) : undefined;
    if (atMs === this.#atMs) return;
    this.cancel();
    this.#atMs = atMs;
    if (atMs !== undefined) this.#cancel = this.#setTimer(() => this.#ring(), Math.max(0, atMs - nowMs));
  }

  close(): void {
    this.cancel();
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#atMs = undefined;
  }

  #ring(): void {
    this.cancel();
    this.#wake();
  }
}
