/**
 * Idle timeout that is extended by reading the clock, without re-arming the timer; a timer that fires too
 * early waits for the rest. Does not keep the process alive.
 */
export class Deadline {
  readonly #onExpired: () => void;
  readonly #isSuspended: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  /** Time at which the timer fires (`performance.now()`). */
  #dueMs = Infinity;
  #limitMs = 0;
  #lastActiveMs = 0;

  /** While `isSuspended` returns true, the timeout does not expire. */
  constructor(onExpired: () => void, isSuspended: () => boolean) {
    this.#onExpired = onExpired;
    this.#isSuspended = isSuspended;
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
    this.#lastActiveMs = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueMs = Infinity;
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#dueMs = performance.now() + ms;
    this.#timer = setTimeout(this.#check, ms).unref();
  }

  readonly #check = (): void => {
    const leftMs = this.#lastActiveMs + this.#limitMs - performance.now();
    this.#dueMs = Infinity;
    if (this.#isSuspended()) this.#wait(this.#limitMs);
    else if (leftMs > 0) this.#wait(Math.ceil(leftMs));
    else this.#onExpired();
  };
}
