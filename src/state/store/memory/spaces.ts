import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../../../plugin/core.js';
import type { SpaceEntry, SpaceQuery, Spaces } from '../contract/store.js';
import { deleteExpired } from './expiry.js';

interface Kept extends SpaceEntry {
  readonly space: string;
  readonly expiresAtMs: number;
}

/** Keys of a space. */
interface SpaceKeys {
  readonly sorted: SortedKeys;
  /** No entry expires before it. */
  nextExpiryMs: number;
}

/** Memory of an entry beside its text, in characters. */
const entryLength = 500;

/** The spaces of plugins in memory, with at most `maxText` characters; the least recently used values go first. */
export class MemorySpaces implements Spaces {
  readonly deleteExpired: Spaces['deleteExpired'];
  readonly #keys = new Map<string, SpaceKeys>();
  readonly #kept: LRUCache<string, Kept>;
  readonly #maxText: number;
  readonly #now: () => number;

  constructor(maxText: number, now: () => number) {
    this.#maxText = maxText;
    this.#now = now;
    this.#kept = new LRUCache({
      maxSize: maxText,
      sizeCalculation: ({ text }) => text.length + entryLength,
      dispose: (entry, _, reason) => reason !== 'set' && this.#forget(entry),
    });
    this.deleteExpired = deleteExpired(this.#kept, now);
  }

  get fill(): CacheStats {
    return { entries: this.#kept.size, capacity: Math.floor(this.#maxText / entryLength) };
  }

  async get(space: string, key: string): Promise<string | undefined> {
    const id = idOf(space, key);
    return this.#live(id) && this.#kept.get(id)?.text;
  }

  async put(
    space: string,
    { key, text, expiresAtMs = Infinity }: SpaceEntry & { readonly expiresAtMs?: number },
    maxKeys: number,
  ): Promise<boolean> {
    const id = idOf(space, key);
    if (!this.#kept.has(id) && this.#isFull(space, maxKeys)) return false;
    this.#kept.set(id, { space, key, text, expiresAtMs });
    const keys = this.#keys.get(space) ?? { sorted: new SortedKeys(), nextExpiryMs: Infinity };
    this.#keys.set(space, keys);
    keys.sorted.add(key);
    keys.nextExpiryMs = Math.min(keys.nextExpiryMs, expiresAtMs);
    if (!this.#kept.has(id)) this.#forget({ space, key }); // larger than all the room
    return true;
  }

  async delete(space: string, key: string): Promise<boolean> {
    const id = idOf(space, key);
    const found = this.#live(id) !== undefined;
    this.#kept.delete(id);
    return found;
  }

  async list(space: string, { prefix, after, limit }: SpaceQuery): Promise<readonly SpaceEntry[]> {
    const found: SpaceEntry[] = [];
    const start = after === undefined || after < prefix ? prefix : after;
    for (const key of this.#keys.get(space)?.sorted.from(start) ?? []) {
      if (found.length >= limit || !key.startsWith(prefix)) break;
      const entry = key === after ? undefined : this.#live(idOf(space, key));
      if (entry) found.push({ key, text: entry.text });
    }
    return found;
  }

  #live(id: string): Kept | undefined {
    const entry = this.#kept.peek(id);
    return entry && entry.expiresAtMs > this.#now() ? entry : undefined;
  }

  /** True for a full space, once its expired values are deleted. */
  #isFull(space: string, maxKeys: number): boolean {
    const keys = this.#keys.get(space);
    if (!keys || keys.sorted.size < maxKeys) return false;
    const nowMs = this.#now();
    if (keys.nextExpiryMs > nowMs) return true;
    let nextMs = Infinity;
    for (const key of keys.sorted.all()) {
      const id = idOf(space, key);
      const { expiresAtMs = 0 } = this.#kept.peek(id) ?? {};
      if (expiresAtMs <= nowMs) this.#kept.delete(id);
      else nextMs = Math.min(nextMs, expiresAtMs);
    }
    keys.nextExpiryMs = nextMs;
    return keys.sorted.size >= maxKeys;
  }

  #forget({ space, key }: Pick<Kept, 'space' | 'key'>): void {
    const keys = this.#keys.get(space);
    keys?.sorted.delete(key);
    if (keys?.sorted.size === 0) this.#keys.delete(space);
  }
}

function idOf(space: string, key: string): string {
  return JSON.stringify([space, key]);
}

/** Keys in their order, by code units. Finding one takes logarithmic time; adding and deleting move those after it. */
class SortedKeys {
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    const at = this.#indexOf(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  delete(key: string): void {
    const at = this.#indexOf(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** Copy of all keys. */
  all(): readonly string[] {
    return [...this.#keys];
  }

  /** Keys from the first one that is not before `start`. */
  *from(start: string): Generator<string> {
    for (let at = this.#indexOf(start); at < this.#keys.length; at += 1) yield this.#keys[at] ?? '';
  }

  /** Index of the first key that is not before this one. */
  #indexOf(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
