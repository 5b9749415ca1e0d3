import type { Binding, Logger, ResponseQuota, Store, StoredResponse } from '../../plugin/index.js';
import { Breaker } from './breaker.js';
import { PendingWrites } from './pending-writes.js';

export interface Guarded {
  /** Name of the server in log lines. */
  readonly name: string;
  readonly probe: () => Promise<unknown>;
  readonly isAbsence: (error: unknown) => boolean;
  /** Aborts the pending queries, which will not be answered. */
  readonly hangUp: () => void;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Store on a server, behind a circuit breaker. While the server is down, keys cannot be looked up; bindings
 * and responses are buffered here and written later.
 */
export function resilientStore(store: Store, options: Guarded): Store {
  const breaker = new Breaker({
    ...options,
    left: (isSilent) => isSilent && options.hangUp(),
    returned: () => {
      for (const { late } of [bindings, responses]) late.drain().catch(() => undefined); // retried later
    },
  });
  const bindings = guardBindings(store.bindings, breaker, options.now);
  const responses = guardResponses(store.responses, breaker);
  return {
    ...store,
    get isAway() {
      return breaker.isAway;
    },
    keys: {
      ...store.keys,
      findByHash: (hash) => breaker.run(() => store.keys.findByHash(hash)),
      touch: (usedAtMs) => breaker.run(() => store.keys.touch(usedAtMs), writePatienceMs),
    },
    slotStates: {
      ...store.slotStates,
      list: () => breaker.run(() => store.slotStates.list(), bodyPatienceMs),
      write: (changes) => breaker.run(() => store.slotStates.write(changes), writePatienceMs),
    },
    ledger: {
      ...store.ledger,
      append: (rows) => breaker.run(() => store.ledger.append(rows), writePatienceMs),
    },
    caches: {
      ...store.caches,
      late_sticky_sessions: () => bindings.late.fill,
      late_responses: () => responses.late.fill,
    },
    bindings: bindings.guarded,
    responses: responses.guarded,
    async close() {
      breaker.close();
      if (!breaker.isAway) await Promise.allSettled([bindings.late.drain(), responses.late.drain()]);
      await store.close();
    },
  };
}

/** A session that is not found costs stickiness, not the request. */
function guardBindings(bindings: Store['bindings'], breaker: Breaker, now: () => number) {
  const write = (key: string, binding: Binding | undefined) =>
    breaker.run(() => (binding ? bindings.put(key, binding) : bindings.delete(key)), writePatienceMs);
  const late = new PendingWrites<Binding>({ most: 10_000 }, write);
  const writeOrKeep = async (key: string, binding: Binding | undefined): Promise<void> => {
    if (breaker.isAway || late.get(key)) late.keep(key, binding);
    else await write(key, binding).catch(unlessAway(breaker, () => late.keep(key, binding)));
  };
  const guarded: Store['bindings'] = {
    ...bindings,
    async get(key) {
      const kept = late.get(key);
      if (kept) return kept.value && kept.value.expiresAtMs > now() ? kept.value : undefined;
      if (breaker.isAway) return undefined;
      return breaker.run(() => bindings.get(key)).catch(unlessAway(breaker, () => undefined));
    },
    put: writeOrKeep,
    delete: (key) => writeOrKeep(key, undefined),
  };
  return { late, guarded };
}

interface LateResponse {
  readonly response: StoredResponse;
  readonly quota: ResponseQuota | undefined;
}

function guardResponses(responses: Store['responses'], breaker: Breaker) {
  const write = (_key: string, late: LateResponse | undefined) =>
    breaker.run(async () => !late || responses.put(late.response, late.quota), bodyPatienceMs);
  const late = new PendingWrites<LateResponse>(
    { most: 10_000, mostWeight: mostResponseText, weigh: ({ response }) => JSON.stringify(response).length },
    write,
  );
  const kept = (owner: string, id: string) => {
    const response = late.get(id)?.value?.response;
    return response?.owner === owner ? response : undefined;
  };
  const guarded: Store['responses'] = {
    ...responses,
    get: async (owner, id) => kept(owner, id) ?? breaker.run(() => responses.get(owner, id), bodyPatienceMs),
    getResponse: async (owner, id) =>
      kept(owner, id)?.response ?? breaker.run(() => responses.getResponse(owner, id), bodyPatienceMs),
    async put(response, quota) {
      const { id } = response;
      const keep = () => {
        late.keep(id, { response, quota });
        return true;
      };
      return breaker.isAway ? keep() : write(id, { response, quota }).catch(unlessAway(breaker, keep));
    },
    delete: (owner, id) => breaker.run(() => responses.delete(owner, id), writePatienceMs),
    totals: () => breaker.run(() => responses.totals(), writePatienceMs),
  };
  return { late, guarded };
}

/** Fallback of the call that found the server down. */
function unlessAway<Result>(breaker: Breaker, instead: () => Result): (error: unknown) => Result {
  return (error) => {
    if (!breaker.isAway) throw error;
    return instead();
  };
}

const writePatienceMs = 1000;

/** A stored response may be long. */
const bodyPatienceMs = 2000;
const mostResponseText = 64 * 1024 * 1024;
