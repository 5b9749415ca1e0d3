import { LRUCache } from 'lru-cache';

/**
 * LRU cache of up to `maxEntries` that grows as it is filled; with its option `max` it would allocate the arrays for
 * all of them at once.
 */
export function growingCache<Value extends object | string | true>(
  maxEntries: number,
  options?: Pick<LRUCache.Options<string, Value, unknown>, 'ttl' | 'ttlResolution' | 'perf'>,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1, ...options });
}
