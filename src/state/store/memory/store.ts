import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import { isSamePerson } from '../contract/same-person.js';
import type { CacheStats, Caches } from '../../../plugin/core.js';
import type { OAuthTokens } from '../../../plugin/upstream/index.js';
import type { ProtocolKey } from '../../../plugin/index.js';
import { maxFormerSecrets } from '../key-rules.js';
import type { Binding, ConsoleSession, Store, StoredSlot, WholeStore } from '../contract/store.js';
import { keepAdminTokens } from './admin-tokens.js';
import { MemoryAuditLog } from './audit.js';
import { keepKeys } from './keys.js';
import { keepTeams } from './teams.js';
import { MemoryErrorTexts } from './error-texts.js';
import { MemoryLedger } from './ledger.js';
import { MemoryResponses } from './responses.js';
import { deleteExpired, unexpired } from './expiry.js';
import { MemorySpaces } from './spaces.js';
import { MemorySlotHistory } from './slot-history.js';
import { keepSlotStates } from './slot-states.js';

interface MemoryStoreOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly max?: Partial<Limits>;
}

interface Limits {
  readonly keys: number;
  readonly teams: number;
  readonly credentials: number;
  readonly bindings: number;
  readonly responses: number;
  /** Bytes of all stored responses together. */
  readonly responseText: number;
  readonly sessions: number;
  readonly slots: number;
  readonly slotStates: number;
  /** Characters of all values of plugins together, with some for each. */
  readonly spaceText: number;
  /** Rows of the ledger, and as many sums of hours. */
  readonly ledger: number;
  /** Failed requests whose error texts are kept. */
  readonly errorTexts: number;
  /** Slots whose history is kept. */
  readonly slotHistory: number;
  readonly audit: number;
  readonly adminTokens: number;
}

/** In-memory store, lost at a restart. Bounded: drops the least recently used entries first. */
export class MemoryStore implements WholeStore {
  readonly isDown = false;
  readonly caches: Caches;
  readonly keys: Store['keys'];
  readonly teams: Store['teams'];
  readonly credentials: Store['credentials'];
  readonly bindings: Store['bindings'];
  readonly responses: Store['responses'];
  readonly sessions: Store['sessions'];
  readonly slots: Store['slots'];
  readonly slotStates: Store['slotStates'];
  readonly ledger: Store['ledger'];
  readonly errorTexts: WholeStore['errorTexts'];
  readonly spaces: WholeStore['spaces'];
  readonly slotHistory: WholeStore['slotHistory'];
  readonly audit: WholeStore['audit'];
  readonly adminTokens: WholeStore['adminTokens'];

  constructor({ now = Date.now, max = {} }: MemoryStoreOptions = {}) {
    const limits = { ...defaultLimits, ...max };
    const caches: Record<string, () => CacheStats> = {};
    const bounded = <Value extends object>(name: string, max: number): LRUCache<string, Value> => {
      const cache = growingCache<Value>(max);
      caches[`memory_${name}`] = () => ({ entries: cache.size, capacity: max });
      return cache;
    };
    const errorTexts = new MemoryErrorTexts(limits.errorTexts);
    caches['memory_error_texts'] = () => errorTexts.fill;
    const ledger = new MemoryLedger(limits.ledger, (row) => errorTexts.add(row));
    const keys = bounded<ProtocolKey>('keys', limits.keys);
    this.keys = keepKeys(keys, growingCache<string>(limits.keys * (1 + maxFormerSecrets)), now);
    this.teams = keepTeams(bounded('teams', limits.teams), keys);
    this.credentials = keepCredentials(bounded('credentials', limits.credentials));
    this.bindings = keepBindings(bounded('sticky_sessions', limits.bindings), now);
    const responses = new MemoryResponses({ max: limits.responses, maxBytes: limits.responseText }, now);
    caches['memory_responses'] = () => responses.fill;
    this.responses = responses;
    this.sessions = keepSessions(bounded('console_sessions', limits.sessions), now);
    this.slots = keepSlots(bounded('slots', limits.slots));
    this.slotStates = keepSlotStates(bounded('slot_states', limits.slotStates), now);
    this.ledger = ledger;
    this.errorTexts = errorTexts;
    const spaces = new MemorySpaces(limits.spaceText, now);
    caches['memory_plugin_values'] = () => spaces.fill;
    this.spaces = spaces;
    const slotHistory = new MemorySlotHistory(limits.slotHistory);
    caches['memory_slot_histories'] = () => slotHistory.fill;
    this.slotHistory = slotHistory;
    const audit = new MemoryAuditLog(limits.audit);
    caches['memory_audit_entries'] = () => audit.fill;
    this.audit = audit;
    this.adminTokens = keepAdminTokens(bounded('admin_tokens', limits.adminTokens));
    this.caches = { ...caches, ...ledger.caches };
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

const defaultLimits: Limits = {
  keys: 100_000,
  teams: 10_000,
  credentials: 10_000,
  bindings: 100_000,
  responses: 10_000,
  responseText: 128 * 1024 * 1024,
  sessions: 10_000,
  slots: 10_000,
  slotStates: 50_000,
  spaceText: 32 * 1024 * 1024,
  ledger: 20_000,
  errorTexts: 5000,
  slotHistory: 1000,
  audit: 10_000,
  adminTokens: 1000,
};

function keepCredentials(bySlot: LRUCache<string, OAuthTokens>): Store['credentials'] {
  return {
    get: async (slotId) => bySlot.get(slotId),
    put: async (slotId, tokens) => void bySlot.set(slotId, tokens),
    delete: async (slotId) => bySlot.delete(slotId),
  };
}

function keepSlots(byId: LRUCache<string, StoredSlot>): Store['slots'] {
  return {
    list: async () => [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    get: async (id) => byId.get(id),
    put: async (slot) => void byId.set(slot.id, slot),
    async update(id, patch) {
      const slot = byId.get(id);
      if (slot) byId.set(id, { ...slot, ...patch });
      return byId.get(id);
    },
    delete: async (id) => byId.delete(id),
  };
}

/** True for a session of the same person with another role. */
function isOfOtherRole(one: ConsoleSession, { subject, actor }: ConsoleSession): boolean {
  return one.actor.role !== actor.role && isSamePerson(one.subject, subject);
}

function keepSessions(byHash: LRUCache<string, ConsoleSession>, now: () => number): Store['sessions'] {
  return {
    deleteExpired: deleteExpired(byHash, now),
    get: async (tokenHash) => unexpired(byHash, tokenHash, now),
    async list() {
      const alive = [...byHash.values()].filter(({ expiresAtMs }) => expiresAtMs > now());
      return alive.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.tokenHash < b.tokenHash ? -1 : 1));
    },
    async put(session) {
      const ended = [...byHash.values()].filter((each) => isOfOtherRole(each, session));
      for (const { tokenHash } of ended) byHash.delete(tokenHash);
      byHash.set(session.tokenHash, session);
      return ended.length;
    },
    async touch(tokenHash, seenAtMs) {
      const session = byHash.get(tokenHash);
      if (session && (session.lastSeenAtMs ?? 0) < seenAtMs)
        byHash.set(tokenHash, { ...session, lastSeenAtMs: seenAtMs });
    },
    delete: async (tokenHash) => byHash.delete(tokenHash),
  };
}

function keepBindings(byKey: LRUCache<string, Binding>, now: () => number): Store['bindings'] {
  return {
    deleteExpired: deleteExpired(byKey, now),
    get: async (stickyKey) => unexpired(byKey, stickyKey, now),
    put: async (stickyKey, binding) => void byKey.set(stickyKey, binding),
    delete: async (stickyKey) => void byKey.delete(stickyKey),
    async countBySlot() {
      const counts = new Map<string, number>();
      for (const { slotId, expiresAtMs } of byKey.values())
        if (expiresAtMs > now()) counts.set(slotId, (counts.get(slotId) ?? 0) + 1);
      return counts;
    },
  };
}
