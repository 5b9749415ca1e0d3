import { LRUCache } from 'lru-cache';
import type { CacheStats, SpaceEntry, Spaces } from '../../plugin/internal.js';
import { deleteExpired } from './expiry.js';

interface Kept extends SpaceEntry {
  readonly expiresAtMs: number;
}

/** Memory of an entry beside its text, in characters. */
const entryLength = 500;

/** The spaces of plugins in memory, with at most `maxText` characters; the least recently used values go first. */
export function keepSpaces(maxText: number, now: () => number): Spaces & { readonly fill: CacheStats } {
  const kept = new LRUCache<string, Kept>({
    maxSize: maxText,
    sizeCalculation: ({ text }) => text.length + entryLength,
  });
  const live = (id: string): Kept | undefined => {
    const entry = kept.peek(id);
    return entry && entry.expiresAtMs > now() ? entry : undefined;
  };
  const entriesOf = (space: string): readonly Kept[] => {
    const start = idOf(space, '').slice(0, -2);
    return [...kept.keys()].flatMap((id) => (id.startsWith(start) ? (live(id) ?? []) : []));
  };
  return {
    get fill() {
      return { entries: kept.size, capacity: Math.floor(maxText / entryLength) };
    },
    deleteExpired: deleteExpired(kept, now),
    async get(space, key) {
      const id = idOf(space, key);
      return live(id) && kept.get(id)?.text;
    },
    async put(space, { key, text, expiresAtMs = Infinity }, maxKeys) {
      const id = idOf(space, key);
      if (!live(id) && kept.size >= maxKeys && entriesOf(space).length >= maxKeys) return false;
      kept.set(id, { key, text, expiresAtMs });
      return true;
    },
    async delete(space, key) {
      const id = idOf(space, key);
      const found = live(id) !== undefined;
      kept.delete(id);
      return found;
    },
    async list(space, { prefix, after, limit }) {
      return entriesOf(space)
        .filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit)
        .map(({ key, text }) => ({ key, text }));
    },
  };
}

function idOf(space: string, key: string): string {
  return JSON.stringify([space, key]);
}
