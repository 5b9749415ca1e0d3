import type { CacheStats, SharedMap } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import { ExpiringMap } from '../expiring-map.js';

interface Entry {
  readonly value: Json;
  readonly expiresAtMs: number;
}

interface Watcher {
  readonly instance: string;
  readonly prefix: string;
  readonly listener: (key: string, value: Json | undefined, ttlMs: number) => void;
}

/** Entry of a snapshot for a replica; `ttlMs` may be Infinity. */
export type TimedEntry = readonly [key: string, value: Json, ttlMs: number];

/** Map that all instances of a process share directly, without replicas. */
export class MemorySharedMap {
  readonly #now: () => number;
  readonly #entries: ExpiringMap<Entry>;
  readonly #watchers = new Set<Watcher>();

  constructor(now: () => number) {
    this.#now = now;
    this.#entries = new ExpiringMap(now);
  }

  get fill(): CacheStats {
    return this.#entries.fill;
  }

  of(instance: string): SharedMap {
    return {
      get: (key) => this.#entries.unexpired(key)?.value,
      ttlMs: (key) => {
        const entry = this.#entries.unexpired(key);
        return entry && entry.expiresAtMs - this.#now();
      },
      entries: (prefix) => this.#under(prefix),
      set: (key, value, ttlMs = Infinity) => {
        this.#entries.set(key, { value, expiresAtMs: this.#now() + ttlMs });
        this.#publish(instance, key, value, ttlMs);
      },
      delete: (key) => {
        if (this.#entries.delete(key)) this.#publish(instance, key, undefined, 0);
      },
      watch: (prefix, listener) => {
        const watcher = { instance, prefix, listener };
        this.#watchers.add(watcher);
        return () => void this.#watchers.delete(watcher);
      },
    };
  }

  /**
   * Returns a snapshot for a replica in another process, and publishes later writes of other instances to
   * it.
   */
  replicate(instance: string, listener: Watcher['listener']): readonly TimedEntry[] {
    this.#watchers.add({ instance, prefix: '', listener });
    const nowMs = this.#now();
    return Array.from(
      this.#entries.entries(),
      ([key, { value, expiresAtMs }]) => [key, value, expiresAtMs - nowMs] as const,
    );
  }

  leave(instance: string): void {
    for (const watcher of this.#watchers) if (watcher.instance === instance) this.#watchers.delete(watcher);
  }

  #under(prefix: string): readonly (readonly [string, Json])[] {
    return [...this.#entries.entries()]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { value }]) => [key, value] as const);
  }

  #publish(instance: string, key: string, value: Json | undefined, ttlMs: number): void {
    for (const watcher of this.#watchers)
      if (watcher.instance !== instance && key.startsWith(watcher.prefix))
        watcher.listener(key, value, ttlMs);
  }
}
