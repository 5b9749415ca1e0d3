import { every } from '../../kit/time/clock.js';
import type { CacheStats } from '../../plugin/core.js';
import type { Clock, Logger } from '../../plugin/index.js';

interface KeyUsesOptions {
  readonly store: { touch(usedAtMs: ReadonlyMap<string, number>): Promise<void> };
  /** Plural name of the used items, for log lines. */
  readonly what: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Times of the last use of keys, written in batches. */
export class KeyUses {
  readonly #options: KeyUsesOptions;
  readonly #stopFlushing: () => void;
  #usedAtMs = new Map<string, number>();
  /** True if the last write failed. */
  #isLate = false;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
    this.#stopFlushing = every(options.clock, touchEveryMs, () => void this.flush());
  }

  get fill(): CacheStats {
    return { entries: this.#usedAtMs.size, capacity: maxPending };
  }

  /** Records a use; drops that of a further key if too many are unwritten. */
  note(id: string, atMs: number): void {
    if (this.#usedAtMs.size < maxPending || this.#usedAtMs.has(id)) this.#usedAtMs.set(id, atMs);
  }

  /** Writes the uses; after a failure the next flush retries. */
  async flush(): Promise<void> {
    const used = this.#usedAtMs;
    if (used.size === 0) return;
    this.#usedAtMs = new Map();
    const { store, what, log } = this.#options;
    try {
      await store.touch(used);
      this.#isLate = false;
    } catch (error) {
      for (const [id, atMs] of used) if (!this.#usedAtMs.has(id)) this.note(id, atMs);
      if (!this.#isLate) log.warn({ err: error }, `The last use of ${what} cannot be stored; retrying.`);
      this.#isLate = true;
    }
  }

  async close(): Promise<void> {
    this.#stopFlushing();
    await this.flush();
  }
}

const touchEveryMs = 5000;
const maxPending = 10_000;
