import { randomInt } from 'node:crypto';

/**
 * The time as Redis has it, in whole milliseconds, and versions that grow: a write that has seen another one is later than
 * that, however the clocks of the machines go.
 */
export class HybridClock {
  readonly #now: () => number;
  /** Tells this instance's versions from those of others at the same time. */
  readonly tie = randomInt(2 ** 47);
  #aheadMs = 0;
  /** By how much that may be wrong at most, by now. */
  #doubtMs = Infinity;
  #latest = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** By the clock of this instance. */
  get nowMs(): number {
    return this.#now();
  }

  /** The other clock said `thereMs` between these two times of ours: the closer these are, the better it is known. */
  set(thereMs: number, sentMs: number, heardMs: number): void {
    const doubtMs = (heardMs - sentMs) / 2;
    this.#doubtMs += driftMs;
    if (doubtMs > this.#doubtMs) return;
    this.#doubtMs = doubtMs;
    this.#aheadMs = thereMs - sentMs - doubtMs;
  }

  toShared(hereMs: number): number {
    return Math.round(hereMs + this.#aheadMs);
  }

  toOwn(thereMs: number): number {
    return thereMs - this.#aheadMs;
  }

  next(): { readonly at: number; readonly tie: number } {
    this.#latest = Math.max(this.#latest + 1, this.toShared(this.#now()));
    return { at: this.#latest, tie: this.tie };
  }

  saw(at: number): void {
    this.#latest = Math.max(this.#latest, at);
  }
}

/** How far two clocks may part from one comparison to the next. */
const driftMs = 0.5;
