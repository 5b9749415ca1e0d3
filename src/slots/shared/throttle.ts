import type { SetTimer } from '../timers.js';

export interface ThrottleOptions {
  readonly setTimer: SetTimer;
  readonly now: () => number;
  readonly everyMs: number;
}

/** Acts at once, and however often it is asked, not again before some time has passed. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #act: () => void;
  #actedAtMs = -Infinity;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ThrottleOptions, act: () => void) {
    this.#options = options;
    this.#act = act;
  }

  ask(): void {
    if (this.#isStopped || this.#cancelTimer) return;
    const { setTimer, now, everyMs } = this.#options;
    const waitMs = this.#actedAtMs + everyMs - now();
    if (waitMs <= 0) return this.#actNow();
    this.#cancelTimer = setTimer(() => this.#actNow(), waitMs);
  }

  /** What has been asked for and not done is not done any more. */
  forget(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** For good. */
  stop(): void {
    this.#isStopped = true;
    this.forget();
  }

  #actNow(): void {
    this.#cancelTimer = undefined;
    this.#actedAtMs = this.#options.now();
    this.#act();
  }
}
