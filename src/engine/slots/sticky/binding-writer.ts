import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import type { CacheStats } from '../../../plugin/core.js';
import type { Logger } from '../../../plugin/index.js';
import type { Binding, Store } from '../../../state/store/contract/store.js';

export interface BindingWriterOptions {
  readonly store: Store['bindings'];
  readonly log: Logger;
  readonly now: () => number;
  /** Max sessions with pending writes. */
  readonly capacity: number;
}

/** Pending write; without a binding the stored one is to be deleted. */
interface Write {
  readonly binding: Binding | undefined;
}

/**
 * Writes bindings to the store behind the cache, one write per session at a time, so that the last one wins.
 */
export class BindingWriter {
  readonly #options: BindingWriterOptions;
  readonly #unwritten: LRUCache<string, Write>;
  /** Sessions with a completed write, kept while another instance's write may be in progress. */
  readonly #written: LRUCache<string, true>;
  #writing: Promise<void> | undefined;

  constructor(options: BindingWriterOptions) {
    const { capacity, now } = options;
    this.#options = options;
    this.#unwritten = growingCache(capacity);
    this.#written = growingCache(capacity, { ttl: settlesMs, ttlResolution: 0, perf: { now } });
  }

  get fill(): CacheStats {
    return { entries: this.#unwritten.size, capacity: this.#options.capacity };
  }

  isUnwritten(key: string): boolean {
    return this.#unwritten.has(key);
  }

  /** True if a write of this session is pending or recent: a write of another instance may overtake it. */
  hasJustWritten(key: string): boolean {
    return this.#unwritten.has(key) || this.#written.has(key);
  }

  write(key: string, binding: Binding | undefined): void {
    this.#unwritten.set(key, {
      binding: binding && { slotId: binding.slotId, expiresAtMs: binding.expiresAtMs },
    });
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when the store has all changes. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const batch = Array.from(take(this.#unwritten.rkeys(), batchSize));
      await Promise.all(batch.map((key) => this.#writeOne(key)));
    }
    this.#writing = undefined; // immediately: entries added meanwhile would otherwise wait for the next write
  }

  async #writeOne(key: string): Promise<void> {
    const write = this.#unwritten.peek(key);
    const binding = write?.binding;
    const { store, log } = this.#options;
    try {
      await (binding ? store.put(key, binding) : store.delete(key));
    } catch (error) {
      log.warn({ err: error }, 'A sticky binding could not be stored; it will be lost at a restart.');
    }
    if (this.#unwritten.peek(key) === write) this.#unwritten.delete(key);
    this.#written.set(key, true);
  }
}

/** Retention of write times, longer than a message and a write take. */
const settlesMs = 2000;

/** Max concurrent writes, each of which waits for the store. */
const batchSize = 50;

function* take<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
