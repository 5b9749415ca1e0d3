import type { ProtocolKey, Store } from '../../plugin/index.js';
import { BoundedMap } from './bounded-map.js';
import { maxDeletedNames } from '../deleted-names.js';
import { applyPatch } from '../apply-patch.js';

/** Protocol keys in memory. */
export function keepKeys(byId: BoundedMap<ProtocolKey>, idByHash: BoundedMap<string>): Store['keys'] {
  const deletedNames = new BoundedMap<string>({ most: maxDeletedNames });
  return {
    async findByHash(hash) {
      const key = byId.get(idByHash.get(hash) ?? '');
      return key?.hash === hash ? key : undefined;
    },
    get: async (id) => byId.get(id),
    list: async () => [...byId.entries()].map(([, key]) => key).toSorted(newestFirst),
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
