import type { Ledger, LedgerRow, ProtocolKey, Store } from '../plugin/index.js';

/** A store in memory that forgets nothing on its own: expiry and the sums of the ledger are left to the real ones. */
export function fakeStore(): Store {
  const bindings = table<Parameters<Store['bindings']['put']>[1]>();
  const credentials = table<Parameters<Store['credentials']['put']>[1]>();
  const responses = table<Parameters<Store['responses']['put']>[0]>();
  const sessions = table<Parameters<Store['sessions']['put']>[0]>();
  return {
    keys: fakeKeyTable(),
    slots: fakeSlotTable(),
    ledger: fakeLedger(),
    credentials,
    bindings: {
      ...bindings,
      ...unexpiring,
      delete: async (key) => void (await bindings.delete(key)),
      countBySlot: async () => new Map(),
    },
    responses: {
      ...unexpiring,
      get: async (owner, id) => responses.get(`${owner} ${id}`),
      put: async (response) => responses.put(`${response.owner} ${response.id}`, response),
      delete: async (owner, id) => responses.delete(`${owner} ${id}`),
    },
    sessions: {
      ...sessions,
      ...unexpiring,
      put: async (session) => sessions.put(session.tokenHash, session),
    },
    close: async () => undefined,
  };
}

const unexpiring = { deleteExpired: async () => 0 };

function table<Value>() {
  const values = new Map<string, Value>();
  return {
    get: async (id: string) => values.get(id),
    list: async () => [...values.values()],
    put: async (id: string, value: Value) => void values.set(id, value),
    delete: async (id: string) => values.delete(id),
  };
}

function fakeKeyTable(): Store['keys'] {
  const keys = table<Parameters<Store['keys']['put']>[0]>();
  return {
    ...keys,
    findByHash: async (hash) => (await keys.list()).find((key) => key.hash === hash),
    put: async (key) => keys.put(key.id, key),
    async update(id, patch) {
      const key = await keys.get(id);
      if (!key) return undefined;
      const fields = Object.entries({ ...key, ...patch }).filter(([, value]) => value !== null);
      await keys.put(id, Object.fromEntries(fields) as unknown as ProtocolKey); // a patch cannot take away what a key must have
      return keys.get(id);
    },
    touch: async () => undefined,
  };
}

function fakeSlotTable(): Store['slots'] {
  const slots = table<Parameters<Store['slots']['put']>[0]>();
  return {
    ...slots,
    put: async (slot) => slots.put(slot.id, slot),
    async update(id, patch) {
      const slot = await slots.get(id);
      if (slot) await slots.put(id, { ...slot, ...patch });
      return slots.get(id);
    },
  };
}

function fakeLedger(): Ledger {
  const kept: LedgerRow[] = [];
  return {
    append: async (rows) => void kept.push(...rows),
    requests: async (_, { limit }) => ({ rows: kept.toReversed().slice(0, limit) }),
    get: async ({ id }) => kept.find((row) => row.id === id),
    usage: async () => [],
    prune: async () => 0,
  };
}
