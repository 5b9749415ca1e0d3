import type { LRUCache } from 'lru-cache';
import { stepResult, type StepResult } from '../../step-result.js';

/** A value of the map; one that has expired is deleted. */
export function unexpired<Value extends { readonly expiresAtMs: number }>(
  map: LRUCache<string, Value>,
  key: string,
  now: () => number,
): Value | undefined {
  const value = map.get(key);
  if (!value || value.expiresAtMs > now()) return value;
  map.delete(key);
  return undefined;
}

/** Deletes at most `limit` of the expired values. */
export function deleteExpired<Value extends { readonly expiresAtMs: number }>(
  map: LRUCache<string, Value>,
  now: () => number,
): (limit: number) => Promise<StepResult> {
  return async (limit) => {
    const expired: string[] = [];
    for (const key of map.rkeys()) {
      if (expired.length === limit) break;
      if ((map.peek(key)?.expiresAtMs ?? Infinity) <= now()) expired.push(key);
    }
    for (const key of expired) map.delete(key);
    return stepResult(expired.length, limit);
  };
}
