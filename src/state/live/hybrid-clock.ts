import { randomInt } from 'node:crypto';

/**
 * Hybrid clock: the time of Redis in whole milliseconds, and versions that always grow. A write that follows
 * a known write gets a later version, even if the clocks of the machines differ.
 */
export class HybridClock {
  readonly #now: () => number;
  /** Tie-breaker between versions of different instances at the same time. */
  readonly tie = randomInt(2 ** 47);
  #aheadMs = 0;
  /** Max error of `#aheadMs` at present. */
  #errorMs = Infinity;
  #latest = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time by the clock of this instance. */
  get nowMs(): number {
    return this.#now();
  }

  /**
   * Measures the offset of the other clock, read as `thereMs` between two local times. The closer these are,
   * the smaller the error.
   */
  set(thereMs: number, sentMs: number, receivedMs: number): void {
    const errorMs = (receivedMs - sentMs) / 2;
    this.#errorMs += driftMs;
    if (errorMs > this.#errorMs) return;
    this.#errorMs = errorMs;
    this.#aheadMs = thereMs - sentMs - errorMs;
  }

  toShared(hereMs: number): number {
    return Math.round(hereMs + this.#aheadMs);
  }

  toOwn(thereMs: number): number {
    return thereMs - this.#aheadMs;
  }

  next(): { readonly at: number; readonly tie: number } {
    const nowMs = this.toShared(this.#now());
    this.#latest = this.isFarAhead(this.#latest) ? nowMs : Math.max(this.#latest + 1, nowMs);
    return { at: this.#latest, tie: this.tie };
  }

  /** Records a version that is not far ahead. */
  observe(at: number): void {
    this.#latest = Math.max(this.#latest, at);
  }

  /** True for a version that no correct clock gives, and after which no later write would win. */
  isFarAhead(at: number): boolean {
    return at > this.toShared(this.#now()) + maxAheadMs;
  }
}

/** Distance to the time of Redis beyond which a version is ignored. */
export const maxAheadMs = 86_400_000;

/** Assumed drift of two clocks from one measurement to the next. */
const driftMs = 0.5;
