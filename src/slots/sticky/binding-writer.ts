import type { Binding, CacheStats, Logger, Store } from '../../plugin/index.js';

export interface BindingWriterOptions {
  readonly store: Store['bindings'];
  readonly log: Logger;
  readonly now: () => number;
  /** Max sessions with pending writes. */
  readonly capacity: number;
}

/**
 * Writes bindings to the store behind the cache, one write per session at a time, so that the last one wins.
 */
export class BindingWriter {
  readonly #options: BindingWriterOptions;
  /** Pending writes; undefined: to be deleted. */
  readonly #unwritten = new Map<string, Binding | undefined>();
  /** Time of the last completed write by session, kept while another instance's write may be in progress. */
  readonly #writtenMs = new Map<string, number>();
  #writing: Promise<void> | undefined;

  constructor(options: BindingWriterOptions) {
    this.#options = options;
  }

  get fill(): CacheStats {
    return { entries: this.#unwritten.size, capacity: this.#options.capacity };
  }

  isUnwritten(key: string): boolean {
    return this.#unwritten.has(key);
  }

  /** True if a write of this session is pending or recent: a write of another instance may overtake it. */
  hasJustWritten(key: string): boolean {
    return this.#unwritten.has(key) || this.#writtenMs.has(key);
  }

  write(key: string, binding: Binding | undefined): void {
    this.#unwritten.delete(key);
    this.#unwritten.set(key, binding && { slotId: binding.slotId, expiresAtMs: binding.expiresAtMs });
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > this.#options.capacity && oldest !== undefined) this.#unwritten.delete(oldest);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when the store has all changes. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const batch = Array.from(take(this.#unwritten, batchSize));
      await Promise.all(batch.map(([key, binding]) => this.#writeOne(key, binding)));
    }
    this.#writing = undefined; // at once, or what came in between would wait for somebody else
  }

  async #writeOne(key: string, binding: Binding | undefined): Promise<void> {
    const { store, log } = this.#options;
    try {
      await (binding ? store.put(key, binding) : store.delete(key));
    } catch (error) {
      log.warn({ err: error }, 'a sticky binding could not be stored; a restart will not know it');
    }
    if (this.#unwritten.get(key) === binding) this.#unwritten.delete(key);
    this.#note(key);
  }

  #note(key: string): void {
    const nowMs = this.#options.now();
    this.#writtenMs.delete(key);
    this.#writtenMs.set(key, nowMs);
    for (const [each, atMs] of this.#writtenMs) {
      if (atMs > nowMs - settlesMs && this.#writtenMs.size <= this.#options.capacity) return;
      this.#writtenMs.delete(each);
    }
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
