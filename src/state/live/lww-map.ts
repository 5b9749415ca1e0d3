import type { CacheStats } from '../../plugin/core.js';
import type { Json } from '../../plugin/index.js';
import { ExpiringMap } from './expiring-map.js';
import type { HybridClock } from './hybrid-clock.js';

/** Version of a write for last-writer-wins: ordered by time, then by the number of the instance. */
interface Version {
  readonly at: number;
  readonly tie: number;
}

/** The latest known write of a key. */
export interface LwwEntry extends Version {
  readonly key: string;
  /** Undefined for a deleted key; a deletion is kept for a while. */
  readonly value: Json | undefined;
  /** Milliseconds by the clock of this instance; Infinity: never. */
  readonly expiresAtMs: number;
}

/** Last-writer-wins replica of a shared map: the latest write of each key. */
export class LwwMap {
  readonly #clock: HybridClock;
  readonly #known: ExpiringMap<LwwEntry>;

  constructor(clock: HybridClock) {
    this.#clock = clock;
    this.#known = new ExpiringMap(() => clock.nowMs);
  }

  get fill(): CacheStats {
    return this.#known.fill;
  }

  get(key: string): LwwEntry | undefined {
    return this.#known.get(key);
  }

  valueOf(key: string): Json | undefined {
    return this.#known.unexpired(key)?.value;
  }

  ttlMs(key: string): number | undefined {
    const known = this.#known.unexpired(key);
    return known?.value === undefined ? undefined : known.expiresAtMs - this.#clock.nowMs;
  }

  entries(prefix: string): readonly (readonly [string, Json])[] {
    const found: (readonly [string, Json])[] = [];
    for (const [key, { value }] of this.#known.entries())
      if (value !== undefined && key.startsWith(prefix)) found.push([key, value]);
    return found;
  }

  /** Stores a write; false if the replica has this one or a later one. */
  put(write: LwwEntry): boolean {
    const known = this.#known.get(write.key);
    if (known && !isLater(write, known)) return false;
    this.#known.set(write.key, write);
    return true;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }

  /** Unexpired entries, including deletions. */
  current(): readonly LwwEntry[] {
    return Array.from(this.#known.entries(), ([, known]) => known);
  }
}

export function isLater(one: Version, other: Version): boolean {
  return one.at > other.at || (one.at === other.at && one.tie > other.tie);
}
