import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import type { ProtocolKey } from '../../../plugin/index.js';
import type { Team } from '../../../plugin/core.js';
import type { Store } from '../contract/store.js';
import { applyPatch, byName, maxDeletedNames, namesOther } from '../key-rules.js';

/** Teams in memory. */
export function keepTeams(
  byId: LRUCache<string, Team>,
  keys: Pick<LRUCache<string, ProtocolKey>, 'values'>,
): Store['teams'] {
  const deletedNames = growingCache<string>(maxDeletedNames);
  return {
    list: async () => [...byId.values()].toSorted(byName),
    get: async (id) => byId.get(id),
    put: async (team) => void byId.set(team.id, team),
    async update(id, patch) {
      const team = byId.get(id);
      if (team) byId.set(id, applyPatch(team, patch));
      return byId.get(id);
    },
    async ofOtherPipelines(pipelines, limit) {
      return [...byId.values()].filter(namesOther(pipelines)).toSorted(byName).slice(0, limit);
    },
    async delete(id) {
      const team = byId.get(id);
      if (!team || [...keys.values()].some((key) => key.team === id)) return false;
      deletedNames.set(id, team.name);
      return byId.delete(id);
    },
    async names() {
      const names = new Map(deletedNames.entries());
      for (const [id, { name }] of byId.entries()) names.set(id, name);
      return names;
    },
  };
}
