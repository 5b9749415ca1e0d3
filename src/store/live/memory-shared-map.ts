import type { Json, SharedMap } from '../../plugin/index.js';

interface Entry {
  readonly value: Json;
  readonly expiresAtMs: number;
}

interface Watcher {
  readonly instance: string;
  readonly prefix: string;
  readonly listener: (key: string, value: Json | undefined, ttlMs: number) => void;
}

/** What a replica is made of; `ttlMs` may be infinite. */
export type TimedEntry = readonly [key: string, value: Json, ttlMs: number];

/** One map for all instances of a process: there is nothing to replicate. */
export class MemorySharedMap {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Set<Watcher>();
  #sweepAtSize = 1000;

  constructor(now: () => number) {
    this.#now = now;
  }

  of(instance: string): SharedMap {
    return {
      get: (key) => this.#get(key),
      entries: (prefix) => this.#under(prefix),
      set: (key, value, ttlMs = Infinity) => {
        this.#sweep();
        this.#entries.set(key, { value, expiresAtMs: this.#now() + ttlMs });
        this.#tell(instance, key, value, ttlMs);
      },
      delete: (key) => {
        if (this.#entries.delete(key)) this.#tell(instance, key, undefined, 0);
      },
      watch: (prefix, listener) => {
        const watcher = { instance, prefix, listener };
        this.#watchers.add(watcher);
        return () => void this.#watchers.delete(watcher);
      },
    };
  }

  /** All there is, and from now on each write of another instance, for a replica elsewhere. */
  replicate(instance: string, listener: Watcher['listener']): readonly TimedEntry[] {
    this.#watchers.add({ instance, prefix: '', listener });
    const nowMs = this.#now();
    return [...this.#entries]
      .filter(([, { expiresAtMs }]) => expiresAtMs > nowMs)
      .map(([key, { value, expiresAtMs }]) => [key, value, expiresAtMs - nowMs] as const);
  }

  leave(instance: string): void {
    for (const watcher of this.#watchers) if (watcher.instance === instance) this.#watchers.delete(watcher);
  }

  #get(key: string): Json | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.expiresAtMs > this.#now() ? entry.value : undefined;
  }

  #under(prefix: string): readonly (readonly [string, Json])[] {
    const nowMs = this.#now();
    return [...this.#entries]
      .filter(([key, { expiresAtMs }]) => key.startsWith(prefix) && expiresAtMs > nowMs)
      .map(([key, { value }]) => [key, value] as const);
  }

  #tell(instance: string, key: string, value: Json | undefined, ttlMs: number): void {
    for (const watcher of this.#watchers)
      if (watcher.instance !== instance && key.startsWith(watcher.prefix))
        watcher.listener(key, value, ttlMs);
  }

  /** Lets go of what has expired, whenever there is twice as much as was left the last time. */
  #sweep(): void {
    if (this.#entries.size < this.#sweepAtSize) return;
    const nowMs = this.#now();
    for (const [key, { expiresAtMs }] of this.#entries) if (expiresAtMs <= nowMs) this.#entries.delete(key);
    this.#sweepAtSize = Math.max(1000, this.#entries.size * 2);
  }
}
