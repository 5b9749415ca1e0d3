import type { LRUCache } from 'lru-cache';
import { growingCache, type ProtocolKey, type Store } from '../../plugin/internal.js';
import { applyPatch, maxDeletedNames } from '../key-rules.js';

/** Protocol keys in memory. */
export function keepKeys(
  byId: LRUCache<string, ProtocolKey>,
  idByHash: LRUCache<string, string>,
): Store['keys'] {
  const deletedNames = growingCache<string>(maxDeletedNames);
  return {
    async findByHash(hash) {
      const key = byId.get(idByHash.get(hash) ?? '');
      return key?.hash === hash ? key : undefined;
    },
    get: async (id) => byId.get(id),
    list: async () => [...byId.values()].toSorted(newestFirst),
    async put(key) {
      byId.set(key.id, key);
      idByHash.set(key.hash, key.id);
    },
    async update(id, patch) {
      const key = byId.get(id);
      if (key) byId.set(id, applyPatch(key, patch));
      return byId.get(id);
    },
    async delete(id) {
      const key = byId.get(id);
      if (key) deletedNames.set(id, key.name);
      return byId.delete(id);
    },
    async names() {
      const names = new Map(deletedNames.entries());
      for (const [id, { name }] of byId.entries()) names.set(id, name);
      return names;
    },
    async touch(usedAtMs) {
      for (const [id, atMs] of usedAtMs) {
        const key = byId.get(id);
        if (key && atMs > (key.lastUsedAtMs ?? 0)) byId.set(id, { ...key, lastUsedAtMs: atMs });
      }
    },
  };
}

function newestFirst(a: ProtocolKey, b: ProtocolKey): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);
}
