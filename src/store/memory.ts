import type {
  Binding,
  ConsoleSession,
  OAuthTokens,
  Store,
  StoredResponse,
  StoredSlot,
} from '../plugin/index.js';
import { BoundedMap } from './bounded-map.js';
import { keepKeys } from './memory-keys.js';
import { MemoryLedger } from './memory-ledger.js';

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
  readonly sessions: number;
  readonly slots: number;
  /** Rows of the ledger, and as many sums of hours. */
  readonly ledger: number;
}

/** A store that forgets everything at a restart. All of it is bounded: the least recently used goes first. */
export class MemoryStore implements Store {
  readonly isAway = false;
  readonly keys: Store['keys'];
  readonly credentials: Store['credentials'];
  readonly bindings: Store['bindings'];
  readonly responses: Store['responses'];
  readonly sessions: Store['sessions'];
  readonly slots: Store['slots'];
  readonly ledger: Store['ledger'];

  constructor({ now = Date.now, most = {} }: MemoryStoreOptions = {}) {
    const limits = { ...defaultLimits, ...most };
    this.keys = keepKeys(limits.keys);
    this.credentials = keepCredentials(limits);
    this.bindings = keepBindings(limits, now);
    this.responses = keepResponses(limits, now);
    this.sessions = keepSessions(limits, now);
    this.slots = keepSlots(limits);
    this.ledger = new MemoryLedger(limits.ledger);
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
  sessions: 10_000,
  slots: 10_000,
  ledger: 20_000,
};

function keepCredentials({ credentials: most }: Limits): Store['credentials'] {
  const bySlot = new BoundedMap<OAuthTokens>({ most });
  return {
    get: async (slotId) => bySlot.get(slotId),
    put: async (slotId, tokens) => bySlot.set(slotId, tokens),
    delete: async (slotId) => bySlot.delete(slotId),
  };
}

function keepSlots({ slots: most }: Limits): Store['slots'] {
  const byId = new BoundedMap<StoredSlot>({ most });
  return {
    list: async () => [...byId.entries()].map(([, slot]) => slot).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    get: async (id) => byId.get(id),
    put: async (slot) => byId.set(slot.id, slot),
    async update(id, patch) {
      const slot = byId.get(id);
      if (slot) byId.set(id, { ...slot, ...patch });
      return byId.get(id);
    },
    delete: async (id) => byId.delete(id),
  };
}

function keepSessions({ sessions: most }: Limits, now: () => number): Store['sessions'] {
  const byHash = new BoundedMap<ConsoleSession>({ most });
  return {
    deleteExpired: deleteExpired(byHash, now),
    get: async (tokenHash) => unexpired(byHash, tokenHash, now),
    put: async (session) => byHash.set(session.tokenHash, session),
    delete: async (tokenHash) => byHash.delete(tokenHash),
  };
}

function keepBindings({ bindings: most }: Limits, now: () => number): Store['bindings'] {
  const byKey = new BoundedMap<Binding>({ most });
  return {
    deleteExpired: deleteExpired(byKey, now),
    get: async (stickyKey) => unexpired(byKey, stickyKey, now),
    put: async (stickyKey, binding) => byKey.set(stickyKey, binding),
    delete: async (stickyKey) => void byKey.delete(stickyKey),
    async countBySlot() {
      const counts = new Map<string, number>();
      for (const [, { slotId, expiresAtMs }] of byKey.entries())
        if (expiresAtMs > now()) counts.set(slotId, (counts.get(slotId) ?? 0) + 1);
      return counts;
    },
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
    deleteExpired: deleteExpired(texts, now),
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

function deleteExpired<Value extends { readonly expiresAtMs: number }>(
  map: BoundedMap<Value>,
  now: () => number,
): (limit: number) => Promise<number> {
  return async (limit) => {
    const expired: string[] = [];
    for (const [key, { expiresAtMs }] of map.entries())
      if (expiresAtMs <= now() && expired.length < limit) expired.push(key);
    for (const key of expired) map.delete(key);
    return expired.length;
  };
}
