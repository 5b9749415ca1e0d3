/**
 * A time limit that is put off by signs of life. For those only the clock is read: no timer is moved. Nor is one for a
 * limit that ends later than the one before: it goes off too early, and then waits for the rest. It keeps no process alive.
 */
export class Deadline {
  readonly #onExpired: () => void;
  readonly #isSuspended: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer goes off. */
  #dueMs = Infinity;
  #limitMs = 0;
  #heardAtMs = 0;

  /** While `isSuspended` the time does not run out. */
  constructor(onExpired: () => void, isSuspended: () => boolean) {
    this.#onExpired = onExpired;
    this.#isSuspended = isSuspended;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** Starts over, with another limit. */
  start(limitMs: number): void {
    this.#limitMs = limitMs;
    this.putOff();
    if (this.#heardAtMs + limitMs < this.#dueMs) this.#wait(limitMs);
  }

  putOff(): void {
    this.#heardAtMs = performance.now();
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
    const leftMs = this.#heardAtMs + this.#limitMs - performance.now();
    this.#dueMs = Infinity;
    if (this.#isSuspended()) this.#wait(this.#limitMs);
    else if (leftMs > 0) this.#wait(Math.ceil(leftMs));
    else this.#onExpired();
  };
}
