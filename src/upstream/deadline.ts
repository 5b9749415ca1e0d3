/** A time limit that is put off by signs of life. For those only the clock is read: no timer is moved. */
export class Deadline {
  readonly #onExpired: () => void;
  readonly #isSuspended: () => boolean;
  #timer: NodeJS.Timeout | undefined;
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
    this.#wait(limitMs);
  }

  putOff(): void {
    this.#heardAtMs = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), ms);
  }

  #check(): void {
    const leftMs = this.#heardAtMs + this.#limitMs - performance.now();
    if (this.#isSuspended()) this.#wait(this.#limitMs);
    else if (leftMs > 0) this.#wait(Math.ceil(leftMs));
    else this.#onExpired();
  }
}
