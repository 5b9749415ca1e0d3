import type { Binding, OAuthTokens, ProtocolKey, Store, StoredResponse } from '../plugin/index.js';
import { BoundedMap } from './bounded-map.js';

export interface MemoryStoreOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly most?: Partial<Limits>;
}

interface Limits {
  readonly keys: number;
  readonly credentials: number;
  readonly bindings: number;
  readonly responses: number;
  /** Characters of all stored responses together. */
  readonly responseText: number;
}

/** A store that forgets everything at a restart. All of it is bounded: the least recently used goes first. */
export class MemoryStore implements Store {
  readonly keys: Store['keys'];
  readonly credentials: Store['credentials'];
  readonly bindings: Store['bindings'];
  readonly responses: Store['responses'];

  constructor({ now = Date.now, most = {} }: MemoryStoreOptions = {}) {
    const limits = { ...defaultLimits, ...most };
    this.keys = keepKeys(limits);
    this.credentials = keepCredentials(limits);
    this.bindings = keepBindings(limits, now);
    this.responses = keepResponses(limits, now);
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

const defaultLimits: Limits = {
  keys: 100_000,
  credentials: 10_000,
  bindings: 100_000,
  responses: 10_000,
  responseText: 128 * 1024 * 1024,
};

function keepKeys({ keys: most }: Limits): Store['keys'] {
  const byId = new BoundedMap<ProtocolKey>({ most });
  const idByHash = new BoundedMap<string>({ most });
  return {
    async findByHash(hash) {
      const key = byId.get(idByHash.get(hash) ?? '');
      return key?.hash === hash ? key : undefined;
    },
    async put(key) {
      byId.set(key.id, key);
      idByHash.set(key.hash, key.id);
    },
  };
}

function keepCredentials({ credentials: most }: Limits): Store['credentials'] {
  const bySlot = new BoundedMap<OAuthTokens>({ most });
  return {
    get: async (slotId) => bySlot.get(slotId),
    put: async (slotId, tokens) => bySlot.set(slotId, tokens),
  };
}

function keepBindings({ bindings: most }: Limits, now: () => number): Store['bindings'] {
  const byKey = new BoundedMap<Binding>({ most });
  return {
    get: async (stickyKey) => unexpired(byKey, stickyKey, now),
    put: async (stickyKey, binding) => byKey.set(stickyKey, binding),
    delete: async (stickyKey) => void byKey.delete(stickyKey),
  };
}

/** Responses are kept as text: their size is known, and nobody can change what was stored. */
function keepResponses({ responses: most, responseText }: Limits, now: () => number): Store['responses'] {
  const texts = new BoundedMap<{ readonly text: string; readonly expiresAtMs: number }>({
    most,
    mostWeight: responseText,
    weigh: ({ text }) => text.length,
  });
  return {
    async get(owner, id) {
      const kept = unexpired(texts, responseKey(owner, id), now);
      return kept && (JSON.parse(kept.text) as StoredResponse); // as `put` wrote it
    },
    async put(response) {
      const { owner, id, expiresAtMs } = response;
      texts.set(responseKey(owner, id), { text: JSON.stringify(response), expiresAtMs });
    },
    delete: async (owner, id) => {
      const isThere = unexpired(texts, responseKey(owner, id), now) !== undefined;
      texts.delete(responseKey(owner, id));
      return isThere;
    },
  };
}

function responseKey(owner: string, id: string): string {
  return JSON.stringify([owner, id]);
}

function unexpired<Value extends { readonly expiresAtMs: number }>(
  map: BoundedMap<Value>,
  key: string,
  now: () => number,
): Value | undefined {
  const value = map.get(key);
  if (!value || value.expiresAtMs > now()) return value;
  map.delete(key);
  return undefined;
}
