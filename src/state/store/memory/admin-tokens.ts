import type { LRUCache } from 'lru-cache';
import type { AdminToken, AdminTokens } from '../contract/admin-token.js';

/** Admin tokens in memory. */
export function keepAdminTokens(byId: LRUCache<string, AdminToken>): AdminTokens {
  const find = (isIt: (token: AdminToken) => boolean) => [...byId.values()].find(isIt);
  return {
    findByHash: async (hash) => find((token) => token.hash === hash),
    get: async (id) => byId.get(id),
    list: async () => [...byId.values()].toSorted(newestFirst),
    async add(token) {
      if (find(({ name }) => name === token.name)) return false;
      byId.set(token.id, token);
      return true;
    },
    async revoke(id, atMs) {
      const token = byId.get(id);
      if (token && token.revokedAtMs === undefined) byId.set(id, { ...token, revokedAtMs: atMs });
      return byId.get(id);
    },
    delete: async (id) => byId.delete(id),
    async touch(usedAtMs) {
      for (const [id, atMs] of usedAtMs) {
        const token = byId.get(id);
        if (token && atMs > (token.lastUsedAtMs ?? 0)) byId.set(id, { ...token, lastUsedAtMs: atMs });
      }
    },
  };
}

function newestFirst(a: AdminToken, b: AdminToken): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1);
}
