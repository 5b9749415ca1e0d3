import type { Json } from './live.js';

/**
 * Key-value space of one plugin in the store; no other plugin reads it. Not encrypted. A store in trouble
 * throws `store_unavailable` (503).
 */
export interface PluginStorage {
  /** Undefined where there is none, or its lifetime is over. */
  get(key: string): Promise<Json | undefined>;
  /**
   * Sets a value of at most 64 KB as JSON, under a key of at most 200 characters. Throws a RangeError beyond
   * these, and where a space would have more than 10,000 keys.
   */
  set(
    key: string,
    value: Json,
    options?: { /** Lifetime; default: no end. */ readonly ttlMs?: number },
  ): Promise<void>;
  /** Returns false where there was none. */
  delete(key: string): Promise<boolean>;
  /** Entries in the order of their keys: at most `limit` (100, at most 1000), from after the key `after`. */
  list(
    prefix?: string,
    page?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly StorageEntry[]>;
}

export interface StorageEntry {
  readonly key: string;
  readonly value: Json;
}
