import type { SetTimer } from '../timers.js';

export interface ThrottleOptions {
  readonly setTimer: SetTimer;
  readonly now: () => number;
  readonly everyMs: number;
}

/** Throttle: acts at once, then at most once per `everyMs`, however often it is asked. */
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

  /** Cancels a pending action. */
  forget(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Stops the throttle permanently. */
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
