import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../../../plugin/core.js';
import type { ResponseQuota } from '../../../plugin/index.js';
import type { StoredResponse } from '../../../plugin/format/index.js';
import type { Store, ResponseTotal } from '../contract/store.js';
import { deleteExpired, unexpired } from './expiry.js';

interface MemoryResponsesBounds {
  readonly max: number;
  /** Max size of the responses of all owners. */
  readonly maxBytes: number;
}

/** Stored response, as text: its size is known, and it cannot be changed by accident. */
interface Kept {
  readonly owner: string;
  readonly key: string;
  readonly input: string;
  readonly response: string;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/** The keys of an owner's responses, the oldest first. */
interface OwnedResponses {
  readonly keys: Set<string>;
  bytes: number;
}

/** Stored Responses in memory. */
export class MemoryResponses {
  readonly #kept: LRUCache<string, Kept>;
  readonly #max: number;
  readonly #byOwner = new Map<string, OwnedResponses>();
  readonly #now: () => number;
  readonly deleteExpired: Store['responses']['deleteExpired'];

  constructor({ max, maxBytes }: MemoryResponsesBounds, now: () => number) {
    this.#now = now;
    this.#max = max;
    this.#kept = new LRUCache({
      maxSize: maxBytes, // not `max`: it would allocate all of it at once
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (kept) => this.#forget(kept),
    });
    this.deleteExpired = deleteExpired(this.#kept, now);
  }

  get fill(): CacheStats {
    return { entries: this.#kept.size, capacity: this.#max };
  }

  async get(owner: string, id: string): Promise<StoredResponse | undefined> {
    const kept = this.#find(owner, id);
    if (!kept) return undefined;
    const { input, response, expiresAtMs } = kept;
    return { id, owner, input: JSON.parse(input), response: JSON.parse(response), expiresAtMs };
  }

  async getResponse(owner: string, id: string): Promise<StoredResponse['response'] | undefined> {
    const kept = this.#find(owner, id);
    return kept && JSON.parse(kept.response);
  }

  async put(stored: StoredResponse, quota?: ResponseQuota): Promise<boolean> {
    const { owner, id, expiresAtMs } = stored;
    const [input, response] = [JSON.stringify(stored.input), JSON.stringify(stored.response)];
    const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
    if (quota?.eachBytes !== undefined && bytes > quota.eachBytes) return false;
    const key = keyOf(owner, id);
    const owned = this.#byOwner.get(owner) ?? { keys: new Set(), bytes: 0 };
    this.#kept.delete(key);
    if (bytes > this.#kept.maxSize) return true; // larger than the cache: treated as evicted
    this.#byOwner.set(owner, owned);
    owned.keys.add(key);
    owned.bytes += bytes;
    this.#kept.set(key, { owner, key, input, response, bytes, expiresAtMs });
    if (this.#kept.size > this.#max) this.#kept.pop();
    if (quota) this.#makeRoom(owned, quota);
    return true;
  }

  async delete(owner: string, id: string): Promise<boolean> {
    return this.#find(owner, id) !== undefined && this.#kept.delete(keyOf(owner, id));
  }

  async totals(): Promise<ReadonlyMap<string, ResponseTotal>> {
    return new Map(
      Array.from(this.#byOwner, ([owner, { keys, bytes }]) => [owner, { count: keys.size, bytes }]),
    );
  }

  #find(owner: string, id: string): Kept | undefined {
    return unexpired(this.#kept, keyOf(owner, id), this.#now);
  }

  #makeRoom(owned: OwnedResponses, quota: ResponseQuota): void {
    for (const oldest of owned.keys) {
      if (owned.keys.size <= quota.count && owned.bytes <= quota.bytes) return;
      this.#kept.delete(oldest);
    }
  }

  #forget({ owner, key, bytes }: Kept): void {
    const owned = this.#byOwner.get(owner);
    if (!owned?.keys.delete(key)) return;
    owned.bytes -= bytes;
    if (owned.keys.size === 0) this.#byOwner.delete(owner);
  }
}

function keyOf(owner: string, id: string): string {
  return JSON.stringify([owner, id]);
}
