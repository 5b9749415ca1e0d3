import type { Binding, Spaces, Store, WholeStore } from '../contract/store.js';
import type { Logger, ResponseQuota } from '../../../plugin/index.js';
import type { StoredResponse } from '../../../plugin/format/index.js';
import { Breaker } from './breaker.js';
import { PendingWrites } from './pending-writes.js';

interface Guarded {
  /** Name of the server in log lines. */
  readonly name: string;
  readonly probe: () => Promise<unknown>;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Waits for a connection; returns the function that releases it. */
  readonly takePlace: () => (() => void) | Promise<() => void>;
  /** Aborts the pending queries, which will not be answered. */
  readonly closeConnections: () => void;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Store on a server, behind a circuit breaker: while the server is down, keys cannot be looked up; bindings and
 * responses are buffered here and written later. `placed`: the same store, for the calls that pass the breaker.
 */
export function resilientStore(store: WholeStore, placed: WholeStore, options: Guarded): WholeStore {
  const breaker = new Breaker({
    ...options,
    onOpen: (isSilent) => isSilent && options.closeConnections(),
    onClose: () => {
      for (const { late } of [bindings, responses]) late.drain().catch(() => undefined); // the writes stay pending
    },
  });
  const bindings = guardBindings(placed.bindings, breaker, options.now);
  const responses = guardResponses(placed.responses, breaker);
  const { keys, teams, slotStates, ledger } = placed;
  return {
    ...store,
    get isDown() {
      return breaker.isDown;
    },
    keys: {
      ...store.keys,
      findByHash: (hash) => breaker.run(() => keys.findByHash(hash)),
      touch: (usedAtMs) => breaker.run(() => keys.touch(usedAtMs), writeTimeoutMs),
    },
    teams: {
      ...store.teams,
      get: (id) => breaker.run(() => teams.get(id)),
    },
    slotStates: {
      ...store.slotStates,
      list: () => breaker.run(() => slotStates.list(), bodyTimeoutMs),
      write: (changes) => breaker.run(() => slotStates.write(changes), writeTimeoutMs),
    },
    ledger: {
      ...store.ledger,
      append: (rows) => breaker.run(() => ledger.append(rows), writeTimeoutMs),
    },
    spaces: guardSpaces(placed.spaces, breaker),
    ...guardOperators(store, placed, breaker),
    caches: {
      ...store.caches,
      late_sticky_sessions: () => bindings.late.fill,
      late_responses: () => responses.late.fill,
    },
    bindings: bindings.guarded,
    responses: responses.guarded,
    async close() {
      breaker.close();
      if (!breaker.isDown) await Promise.allSettled([bindings.late.drain(), responses.late.drain()]);
      await store.close();
    },
  };
}

/** A session that is not found costs stickiness, not the request. */
function guardBindings(bindings: Store['bindings'], breaker: Breaker, now: () => number) {
  const write = (key: string, binding: Binding | undefined) =>
    breaker.run(() => (binding ? bindings.put(key, binding) : bindings.delete(key)), writeTimeoutMs);
  const late = new PendingWrites<Binding>({ max: 10_000 }, write);
  const writeOrKeep = async (key: string, binding: Binding | undefined): Promise<void> => {
    if (breaker.isDown || late.get(key)) late.keep(key, binding);
    else await write(key, binding).catch(unlessDown(breaker, () => late.keep(key, binding)));
  };
  const guarded: Store['bindings'] = {
    ...bindings,
    async get(key) {
      const kept = late.get(key);
      if (kept) return kept.value && kept.value.expiresAtMs > now() ? kept.value : undefined;
      if (breaker.isDown) return undefined;
      return breaker.run(() => bindings.get(key)).catch(unlessDown(breaker, () => undefined));
    },
    put: writeOrKeep,
    delete: (key) => writeOrKeep(key, undefined),
  };
  return { late, guarded };
}

/** Not buffered: a plugin reads its own writes, on every instance. */
function guardSpaces(spaces: Spaces, breaker: Breaker): Spaces {
  return {
    ...spaces,
    get: (space, key) => breaker.run(() => spaces.get(space, key)),
    put: (space, entry, maxKeys) => breaker.run(() => spaces.put(space, entry, maxKeys), writeTimeoutMs),
    delete: (space, key) => breaker.run(() => spaces.delete(space, key), writeTimeoutMs),
    list: (space, query) => breaker.run(() => spaces.list(space, query), bodyTimeoutMs),
  };
}

function guardOperators(
  store: WholeStore,
  { audit, adminTokens, slotHistory }: WholeStore,
  breaker: Breaker,
) {
  return {
    slotHistory: {
      ...store.slotHistory,
      append: (changes) => breaker.run(() => slotHistory.append(changes), writeTimeoutMs),
      sample: (samples) => breaker.run(() => slotHistory.sample(samples), writeTimeoutMs),
    },
    audit: {
      ...store.audit,
      append: (entries) => breaker.run(() => audit.append(entries), writeTimeoutMs),
    },
    adminTokens: {
      ...store.adminTokens,
      findByHash: (hash) => breaker.run(() => adminTokens.findByHash(hash)),
      touch: (usedAtMs) => breaker.run(() => adminTokens.touch(usedAtMs), writeTimeoutMs),
    },
  } satisfies Partial<WholeStore>;
}

interface LateResponse {
  readonly response: StoredResponse;
  readonly quota: ResponseQuota | undefined;
}

function guardResponses(responses: Store['responses'], breaker: Breaker) {
  const write = (_key: string, late: LateResponse | undefined) =>
    breaker.run(async () => !late || responses.put(late.response, late.quota), bodyTimeoutMs);
  const late = new PendingWrites<LateResponse>(
    { max: 10_000, maxSize: maxResponseText, sizeOf: ({ response }) => JSON.stringify(response).length },
    write,
  );
  const kept = (owner: string, id: string) => {
    const response = late.get(id)?.value?.response;
    return response?.owner === owner ? response : undefined;
  };
  const guarded: Store['responses'] = {
    ...responses,
    get: async (owner, id) => kept(owner, id) ?? breaker.run(() => responses.get(owner, id), bodyTimeoutMs),
    getResponse: async (owner, id) =>
      kept(owner, id)?.response ?? breaker.run(() => responses.getResponse(owner, id), bodyTimeoutMs),
    async put(response, quota) {
      const { id } = response;
      const keep = () => {
        late.keep(id, { response, quota });
        return true;
      };
      return breaker.isDown ? keep() : write(id, { response, quota }).catch(unlessDown(breaker, keep));
    },
    delete: (owner, id) => breaker.run(() => responses.delete(owner, id), writeTimeoutMs),
    totals: () => breaker.run(() => responses.totals(), writeTimeoutMs),
  };
  return { late, guarded };
}

/** Fallback of the call that found the server down. */
function unlessDown<Result>(breaker: Breaker, instead: () => Result): (error: unknown) => Result {
  return (error) => {
    if (!breaker.isDown) throw error;
    return instead();
  };
}

const writeTimeoutMs = 1000;

/** Timeout of calls with a stored response, which may be long. */
const bodyTimeoutMs = 2000;
const maxResponseText = 64 * 1024 * 1024;
