import { systemClock, type Clock } from './clock.js';

/**
 * Idle timeout that is extended by reading the clock, without re-arming the timer; a timer that fires too
 * early waits for the rest. Does not keep the process alive.
 */
export class Deadline {
  readonly #onExpired: () => void;
  readonly #isSuspended: () => boolean;
  readonly #clock: Clock;
  #cancelTimer: (() => void) | undefined;
  /** Time at which the timer fires (`monotonicMs()`). */
  #dueMs = Infinity;
  #limitMs = 0;
  #lastActiveMs = 0;

  /** While `isSuspended` returns true, the timeout does not expire. */
  constructor(onExpired: () => void, isSuspended: () => boolean, clock: Clock = systemClock) {
    this.#onExpired = onExpired;
    this.#isSuspended = isSuspended;
    this.#clock = clock;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** Restarts the timeout with another limit. */
  start(limitMs: number): void {
    this.#limitMs = limitMs;
    this.extend();
    if (this.#lastActiveMs + limitMs < this.#dueMs) this.#wait(limitMs);
  }

  extend(): void {
    this.#lastActiveMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#dueMs = Infinity;
  }

  #wait(ms: number): void {
    this.#cancelTimer?.();
    this.#dueMs = this.#clock.monotonicMs() + ms;
    this.#cancelTimer = this.#clock.setTimer(this.#check, ms);
  }

  readonly #check = (): void => {
    const leftMs = this.#lastActiveMs + this.#limitMs - this.#clock.monotonicMs();
    this.#dueMs = Infinity;
    if (this.#isSuspended()) this.#wait(this.#limitMs);
    else if (leftMs > 0) this.#wait(Math.ceil(leftMs));
    else this.#onExpired();
  };
}
