import type { CacheStats } from '../plugin/index.js';

/**
 * A map of what expires. That goes whenever there is twice as much as was left the last time; where nothing has expired
 * and there is still too much, what was entered first goes.
 */
export class ExpiringMap<Value extends { readonly expiresAtMs: number }> {
  readonly #now: () => number;
  readonly #most: number;
  readonly #values = new Map<string, Value>();
  #sweepAtSize = leastSwept;

  constructor(now: () => number, most = 100_000) {
    this.#now = now;
    this.#most = most;
  }

  get fill(): CacheStats {
    return { entries: this.#values.size, capacity: this.#most };
  }

  /** Also what has expired and not gone yet. */
  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Undefined also for what has expired. */
  unexpired(key: string): Value | undefined {
    const value = this.#values.get(key);
    return value && value.expiresAtMs > this.#now() ? value : undefined;
  }

  /** All that has not expired. */
  *entries(): Generator<readonly [key: string, value: Value]> {
    const nowMs = this.#now();
    for (const entry of this.#values) if (entry[1].expiresAtMs > nowMs) yield entry;
  }

  set(key: string, value: Value): void {
    if (this.#values.size >= Math.min(this.#sweepAtSize, this.#most) && !this.#values.has(key)) this.#sweep();
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    return this.#values.delete(key);
  }

  #sweep(): void {
    const nowMs = this.#now();
    for (const [key, { expiresAtMs }] of this.#values) if (expiresAtMs <= nowMs) this.#values.delete(key);
    if (this.#values.size >= this.#most) this.#dropFirst(Math.ceil(this.#most / 10));
    this.#sweepAtSize = Math.max(leastSwept, this.#values.size * 2);
  }

  /** Many at once: each sweep looks at all of them. */
  #dropFirst(count: number): void {
    for (const key of [...this.#values.keys()].slice(0, count)) this.#values.delete(key);
  }
}

const leastSwept = 1000;
