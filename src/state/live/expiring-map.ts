import type { CacheStats } from '../../plugin/core.js';

/**
 * Map with expiring entries, swept each time its size has doubled since the last sweep. If it is still full
 * after a sweep, the tenth that was set longest ago is evicted.
 */
export class ExpiringMap<Value extends { readonly expiresAtMs: number }> {
  readonly #now: () => number;
  readonly #max: number;
  readonly #values = new Map<string, Value>();
  #sweepAtSize = minSweepSize;

  constructor(now: () => number, max = 100_000) {
    this.#now = now;
    this.#max = max;
  }

  get fill(): CacheStats {
    return { entries: this.#values.size, capacity: this.#max };
  }

  /** Value of a key, including expired values that are not swept yet. */
  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Value of a key; undefined if expired. */
  unexpired(key: string): Value | undefined {
    const value = this.#values.get(key);
    return value && value.expiresAtMs > this.#now() ? value : undefined;
  }

  /** Unexpired entries. */
  *entries(): Generator<readonly [key: string, value: Value]> {
    const nowMs = this.#now();
    for (const entry of this.#values) if (entry[1].expiresAtMs > nowMs) yield entry;
  }

  set(key: string, value: Value): void {
    const isRenewed = this.#values.delete(key); // a renewed entry is the newest
    if (!isRenewed && this.#values.size >= Math.min(this.#sweepAtSize, this.#max)) this.#sweep();
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    return this.#values.delete(key);
  }

  #sweep(): void {
    const nowMs = this.#now();
    for (const [key, { expiresAtMs }] of this.#values) if (expiresAtMs <= nowMs) this.#values.delete(key);
    if (this.#values.size >= this.#max) this.#dropFirst(Math.ceil(this.#max / 10));
    this.#sweepAtSize = Math.max(minSweepSize, this.#values.size * 2);
  }

  /** Evicts many entries at once, because each sweep visits all of them. */
  #dropFirst(count: number): void {
    for (const key of [...this.#values.keys()].slice(0, count)) this.#values.delete(key);
  }
}

const minSweepSize = 1000;
