import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../../../plugin/core.js';

/** Last write of one key; an undefined value is a delete. */
interface PendingWrite<Value> {
  readonly value: Value | undefined;
}

interface PendingWritesBounds<Value> {
  readonly max: number;
  /** Max size of all values together, by `sizeOf`. */
  readonly maxSize?: number;
  readonly sizeOf?: (value: Value) => number;
}

/** Buffer of the last write of each key while the store is down; drops the oldest if full. */
export class PendingWrites<Value> {
  readonly #kept: LRUCache<string, PendingWrite<Value>>;
  readonly #write: (key: string, value: Value | undefined) => Promise<unknown>;
  #draining: Promise<void> | undefined;

  constructor(
    { max, maxSize = Infinity, sizeOf = () => 0 }: PendingWritesBounds<Value>,
    write: (key: string, value: Value | undefined) => Promise<unknown>,
  ) {
    this.#kept = new LRUCache({
      max,
      maxSize: Math.min(maxSize, Number.MAX_SAFE_INTEGER),
      sizeCalculation: ({ value }) => 1 + (value === undefined ? 0 : sizeOf(value)),
    });
    this.#write = write;
  }

  get fill(): CacheStats {
    return { entries: this.#kept.size, capacity: this.#kept.max };
  }

  keep(key: string, value: Value | undefined): void {
    this.#kept.set(key, { value });
  }

  get(key: string): PendingWrite<Value> | undefined {
    return this.#kept.get(key);
  }

  /** Drains the buffer to the store, later writes included. Rejects if the store is down again. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  async #drain(): Promise<void> {
    for (let [key] = this.#kept.rkeys(); key !== undefined; [key] = this.#kept.rkeys()) {
      const kept = this.#kept.peek(key);
      await this.#write(key, kept?.value);
      if (this.#kept.peek(key) === kept) this.#kept.delete(key);
    }
  }
}
