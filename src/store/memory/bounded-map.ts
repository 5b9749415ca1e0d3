import type { CacheStats } from '../../plugin/index.js';

export interface Bounds<Value> {
  readonly most: number;
  /** Of all values together, by `weigh`. */
  readonly mostWeight?: number;
  readonly weigh?: (value: Value) => number;
  /** Called for each value that leaves the map, and for one that is too heavy to enter. */
  readonly dropped?: (value: Value) => void;
}

/**
 * LRU map: drops the least recently used entry when full. A value heavier than the max weight is not kept.
 */
export class BoundedMap<Value> {
  readonly #most: number;
  readonly #mostWeight: number;
  readonly #weigh: (value: Value) => number;
  readonly #dropped: (value: Value) => void;
  readonly #values = new Map<string, Value>();
  #weight = 0;

  constructor({ most, mostWeight = Infinity, weigh = () => 0, dropped = () => undefined }: Bounds<Value>) {
    this.#most = most;
    this.#mostWeight = mostWeight;
    this.#weigh = weigh;
    this.#dropped = dropped;
  }

  get fill(): CacheStats {
    return { entries: this.#values.size, capacity: this.#most };
  }

  /** Returns a value and marks it as the most recently used. */
  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    const weight = this.#weigh(value);
    this.delete(key);
    if (weight > this.#mostWeight) return this.#dropped(value);
    this.#values.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most && this.#weight <= this.#mostWeight) return;
      this.delete(oldest);
    }
  }

  /** Least recently used first; no use of them. */
  entries(): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }

  clear(): void {
    for (const key of this.#values.keys()) this.delete(key);
  }

  delete(key: string): boolean {
    const value = this.#values.get(key);
    if (value === undefined) return false;
    this.#weight -= this.#weigh(value);
    this.#values.delete(key);
    this.#dropped(value);
    return true;
  }
}
