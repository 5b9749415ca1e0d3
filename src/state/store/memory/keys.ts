import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import type { KeySecret } from '../../../plugin/core.js';
import type { ProtocolKey } from '../../../plugin/index.js';
import type { Store } from '../contract/store.js';
import { applyPatch, applyRotation, isGood, maxDeletedNames, namesOther } from '../key-rules.js';

/** Protocol keys in memory. */
export function keepKeys(
  byId: LRUCache<string, ProtocolKey>,
  idByHash: LRUCache<string, string>,
  now: () => number,
): Store['keys'] {
  const deletedNames = growingCache<string>(maxDeletedNames);
  const put = (key: ProtocolKey): void => {
    byId.set(key.id, key);
    for (const { hash } of secretsOf(key)) idByHash.set(hash, key.id);
  };
  return {
    async findByHash(hash) {
      const key = byId.get(idByHash.get(hash) ?? '');
      return key && secretsOf(key).some((secret) => secret.hash === hash) ? key : undefined;
    },
    get: async (id) => byId.get(id),
    list: async () => [...byId.values()].toSorted(newestFirst),
    put: async (key) => put(key),
    async update(id, patch) {
      const key = byId.get(id);
      if (key) byId.set(id, applyPatch(key, patch));
      return byId.get(id);
    },
    async rotate(id, secret, endsAtMs) {
      const key = byId.get(id);
      if (key) put(applyRotation(key, { secret, endsAtMs, nowMs: now() }));
      return byId.get(id);
    },
    async ofOtherPipelines(pipelines, limit) {
      const good = [...byId.values()].filter((key) => isGood(key, now()));
      return good.filter(namesOther(pipelines)).toSorted(newestFirst).slice(0, limit);
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

function secretsOf(key: ProtocolKey): readonly KeySecret[] {
  return key.formerSecrets ? [key, ...key.formerSecrets] : [key];
}

function newestFirst(a: ProtocolKey, b: ProtocolKey): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);
}
