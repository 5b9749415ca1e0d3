import type { Clock } from '../../plugin/index.js';

export interface ThrottleOptions {
  readonly clock: Clock;
  readonly everyMs: number;
}

/** Throttle: acts at once, then at most once per `everyMs`, however often it is asked. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #act: () => void;
  /** `monotonicMs()` of the last action. */
  #actedAtMs = -Infinity;
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ThrottleOptions, act: () => void) {
    this.#options = options;
    this.#act = act;
  }

  ask(): void {
    if (this.#isStopped || this.#cancelTimer) return;
    const { clock, everyMs } = this.#options;
    const waitMs = this.#actedAtMs + everyMs - clock.monotonicMs();
    if (waitMs <= 0) return this.#actNow();
    this.#cancelTimer = clock.setTimer(() => this.#actNow(), waitMs);
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
    this.#actedAtMs = this.#options.clock.monotonicMs();
    this.#act();
  }
}

/** Timer that calls `wake` at the earliest of the given times; each `arm` replaces the one before. */
export class EarliestTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #cancel: (() => void) | undefined;
  #atMs: number | undefined;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Arms the timer; without times, cancels it. */
  arm(timesMs: readonly number[], nowMs: number): void {
    const atMs = timesMs.length > 0 ? Math.min(...timesMs) : undefined;
    if (atMs === this.#atMs) return;
    this.cancel();
    this.#atMs = atMs;
    if (atMs !== undefined)
      this.#cancel = this.#clock.setTimer(() => this.#fire(), Math.max(0, atMs - nowMs));
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#atMs = undefined;
  }

  #fire(): void {
    this.cancel();
    this.#wake();
  }
}

/** Delayed retry of a slot, one for all requests in the meantime. */
export class DelayedRetry {
  readonly #clock: Clock;
  readonly #look: (slotId: string) => void;
  readonly #timers = new Map<string, () => void>();

  constructor(clock: Clock, look: (slotId: string) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Schedules the retry of a slot, unless one is pending. */
  schedule(slotId: string): void {
    if (this.#timers.has(slotId)) return;
    const look = (): void => {
      this.#timers.delete(slotId);
      this.#look(slotId);
    };
    this.#timers.set(slotId, this.#clock.setTimer(look, inMs));
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}

const inMs = 25;
