import type { LRUCache } from 'lru-cache';
import type { Json } from '../../../plugin/index.js';
import type { Store } from '../contract/store.js';
import { deleteExpired } from './expiry.js';

interface Kept {
  readonly value: Json;
  readonly expiresAtMs: number;
}

/** The state of slots in memory. */
export function keepSlotStates(byKey: LRUCache<string, Kept>, now: () => number): Store['slotStates'] {
  return {
    deleteExpired: deleteExpired(byKey, now),
    async list() {
      const nowMs = now();
      return [...byKey.entries()]
        .filter(([, { expiresAtMs }]) => expiresAtMs > nowMs)
        .map(([key, { value, expiresAtMs }]) => ({
          key,
          value,
          ...(expiresAtMs !== Infinity && { ttlMs: expiresAtMs - nowMs }),
        }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    async write(changes) {
      for (const { key, value, ttlMs = Infinity } of changes)
        if (value === undefined) byKey.delete(key);
        else byKey.set(key, { value, expiresAtMs: now() + ttlMs });
    },
  };
}
