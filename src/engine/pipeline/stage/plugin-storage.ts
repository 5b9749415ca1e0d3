import type { Json } from '../../../plugin/index.js';
import type { PluginStorage } from '../../../plugin/core.js';
import type { Spaces } from '../../../state/store/contract/store.js';

/** Max keys of one space. */
const maxKeys = 10_000;
const maxKeyLength = 200;
/** Max size of a value as JSON text. */
const maxTextLength = 65_536;
const maxTtlMs = 10 * 366 * 86_400_000;
const maxListed = 1000;
const defaultListed = 100;

/** Storage of a plugin over the space of its name. */
export function pluginStorage(spaces: Spaces, space: string, now: () => number): PluginStorage {
  return {
    async get(key) {
      const text = await spaces.get(space, checkedKey(key));
      return text === undefined ? undefined : parsed(text);
    },
    async set(key, value, { ttlMs } = {}) {
      const expiry = ttlMs !== undefined && { expiresAtMs: now() + checkedTtl(ttlMs) };
      const entry = { key: checkedKey(key), text: written(value), ...expiry };
      if (await spaces.put(space, entry, maxKeys)) return;
      throw new RangeError(
        `The storage of "${space}" already has ${maxKeys} keys; delete some, or give them a lifetime.`,
      );
    },
    delete: async (key) => spaces.delete(space, checkedKey(key)),
    async list(prefix = '', { after, limit = defaultListed } = {}) {
      const page = { prefix, limit: Math.min(Math.max(0, Math.floor(limit)), maxListed) };
      const found = await spaces.list(space, after === undefined ? page : { ...page, after });
      return found.map(({ key, text }) => ({ key, value: parsed(text) }));
    },
  };
}

function checkedKey(key: string): string {
  if (typeof key === 'string' && keyPattern.test(key)) return key;
  throw new RangeError(
    `A storage key must have 1 to ${maxKeyLength} characters without control characters, not ${JSON.stringify(key)?.slice(0, 250)}.`,
  );
}

const keyPattern = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${maxKeyLength}}$`, 'u');

function checkedTtl(ttlMs: number): number {
  if (ttlMs > 0 && ttlMs <= maxTtlMs) return Math.ceil(ttlMs);
  throw new RangeError(
    `A lifetime in the storage must be above 0 ms and at most ten years, not ${ttlMs} ms.`,
  );
}

function written(value: Json): string {
  const text = JSON.stringify(value) as string | undefined; // undefined for anything but JSON
  if (text === undefined) throw new RangeError('A storage value must be JSON; `delete` removes a key.');
  if (text.length > maxTextLength)
    throw new RangeError(
      `A storage value has ${text.length} characters as JSON; at most ${maxTextLength} are allowed.`,
    );
  return text;
}

function parsed(text: string): Json {
  return JSON.parse(text) as Json; // as `written` wrote it
}
