import { expect } from 'chai';
import type {
  LedgerRow,
  LedgerTokens,
  ProtocolKey,
  Store,
  StoredResponse,
  StoredSlot,
  UsageSum,
  WholeStore,
} from '#src/plugin/internal.js';

import { describeAudit } from './conformance-audit.js';

/** How a kind of store is opened for one test. */
export interface StoreUnderTest {
  readonly store: WholeStore;
  close(): Promise<void>;
}

export type OpenStore = (now: () => number) => Promise<StoreUnderTest>;

/** What every store does alike: one suite, run on each of them. */
export function describeStore(open: OpenStore): void {
  const clock = { nowMs: 0 };
  let under: StoreUnderTest;
  let store: WholeStore;
  beforeEach(async () => {
    clock.nowMs = Date.UTC(2026, 0, 1, 12, 30);
    under = await open(() => clock.nowMs);
    store = under.store;
  });
  afterEach(() => under.close());

  describeAudit(() => store);

  describe('its keys', () => {
    it('are found by hash, by id, and in a list with the newest first', async () => {
      const full = key('k1', {
        lastUsedAtMs: 2 ** 45,
        expiresAtMs: 2 ** 45,
        revokedAtMs: 7,
        models: ['a*', 'b'],
        slots: ['red-*'],
        requestsPerMinute: 1,
        tokensPerMinute: 2,
        tokensPerDay: 3,
        tokensPerMonth: 2 ** 40,
        maxConcurrent: 5,
        note: 'über "alles"',
      });
      const bare = key('k2', { createdAtMs: 2000 });
      await store.keys.put(full);
      await store.keys.put(bare);
      expect(await store.keys.findByHash('hash of k1')).to.deep.equal(full);
      expect(await store.keys.findByHash('k1')).to.equal(undefined);
      expect(await store.keys.get('k2')).to.deep.equal(bare);
      expect(await store.keys.get('k3')).to.equal(undefined);
      expect(await store.keys.list()).to.deep.equal([bare, full]);
    });

    it('are replaced by a put of the same id, their old hash included', async () => {
      await store.keys.put(key('k1', { note: 'old' }));
      await store.keys.put(key('k1', { hash: 'new' }));
      expect(await store.keys.findByHash('hash of k1')).to.equal(undefined);
      expect(await store.keys.findByHash('new')).to.deep.equal(key('k1', { hash: 'new' }));
    });

    it('take a patch: what it names is set, null takes away, the rest stays', async () => {
      await store.keys.put(key('k1', { note: 'n', models: ['a'], slots: ['x'], tokensPerDay: 5 }));
      const after = key('k1', { name: 'renamed', models: ['b'], tokensPerDay: 5, revokedAtMs: 9 });
      const patch = { name: 'renamed', models: ['b'], slots: null, note: null, revokedAtMs: 9 };
      expect(await store.keys.update('k1', patch)).to.deep.equal(after);
      expect(await store.keys.findByHash('hash of k1')).to.deep.equal(after);
      expect(await store.keys.update('k1', {})).to.deep.equal(after);
      expect(await store.keys.update('nobody', { name: 'x' })).to.equal(undefined);
    });

    it('can be deleted once', async () => {
      await store.keys.put(key('k1'));
      expect(await store.keys.delete('k1')).to.equal(true);
      expect(await store.keys.delete('k1')).to.equal(false);
      expect(await store.keys.findByHash('hash of k1')).to.equal(undefined);
    });

    it('keep their names when they are gone', async () => {
      for (const id of ['k1', 'k2']) await store.keys.put({ ...key(id), name: `the name of ${id}` });
      await store.keys.delete('k1');
      expect(Object.fromEntries(await store.keys.names())).to.deep.equal({
        k1: 'the name of k1',
        k2: 'the name of k2',
      });
    });

    it('remember when they were used last, whatever order that is told in', async () => {
      for (const id of ['k1', 'k2']) await store.keys.put(key(id));
      await store.keys.touch(
        new Map([
          ['k1', 20],
          ['k2', 5],
          ['gone', 1],
        ]),
      );
      await store.keys.touch(
        new Map([
          ['k1', 10],
          ['k2', 6],
        ]),
      );
      const used = (await store.keys.list()).map(({ id, lastUsedAtMs }) => [id, lastUsedAtMs]);
      expect(new Map(used as [string, number][])).to.deep.equal(
        new Map([
          ['k1', 20],
          ['k2', 6],
        ]),
      );
    });
  });

  describe('its slot states', () => {
    const written = async () =>
      (await store.slotStates.list()).map(({ key: name, value, ttlMs }) => [
        name,
        value,
        ttlMs !== undefined,
      ]);

    it('are those that were written last, with what is left of their time', async () => {
      await store.slotStates.write([
        { key: 'b', value: { deep: [1, null, 'é"'] }, ttlMs: 90_000 },
        { key: 'a', value: 'old' },
        { key: 'c', value: false },
      ]);
      await store.slotStates.write([
        { key: 'a', value: null, ttlMs: 60_000.5 },
        { key: 'b', value: 'new' },
        { key: 'c', value: undefined },
        { key: 'never', value: undefined },
      ]);
      expect(await written()).to.deep.equal([
        ['a', null, true],
        ['b', 'new', false],
      ]);
      const [{ ttlMs } = {}] = await store.slotStates.list();
      expect(ttlMs).to.be.within(1, 60_001);
    });

    it('go by themselves when their time is over', async () => {
      await store.slotStates.write([
        { key: 'over', value: 1, ttlMs: 0 },
        { key: 'there', value: 2, ttlMs: 90_000 },
        { key: 'lasting', value: 3 },
      ]);
      expect(await written()).to.deep.equal([
        ['lasting', 3, false],
        ['there', 2, true],
      ]);
      expect(await store.slotStates.deleteExpired(10)).to.equal(1);
      expect(await store.slotStates.deleteExpired(10)).to.equal(0);
    });
  });

  describe('its credentials', () => {
    it('are those that were put last, one set a slot', async () => {
      const tokens = { accessToken: 'a', refreshToken: 'r', origin: 'o' };
      await store.credentials.put('s', tokens);
      await store.credentials.put('t', { ...tokens, expiresAtMs: 5 });
      await store.credentials.put('s', { ...tokens, accessToken: 'b' });
      expect(await store.credentials.get('s')).to.deep.equal({ ...tokens, accessToken: 'b' });
      expect(await store.credentials.get('t')).to.deep.equal({ ...tokens, expiresAtMs: 5 });
      expect(await store.credentials.get('u')).to.equal(undefined);
      expect(await store.credentials.delete('s')).to.equal(true);
      expect(await store.credentials.delete('s')).to.equal(false);
      expect(await store.credentials.get('s')).to.equal(undefined);
    });
  });

  describe('its slots', () => {
    it('are kept with their accounts, in the order of their ids', async () => {
      const [a, b] = [slot('a'), slot('b')];
      await store.slots.put(b);
      await store.slots.put(a);
      expect(await store.slots.list()).to.deep.equal([a, b]);
      expect(await store.slots.get('b')).to.deep.equal(b);
      expect(await store.slots.get('c')).to.equal(undefined);
      await store.slots.put({ ...b, updatedAtMs: 8 });
      expect(await store.slots.get('b')).to.deep.equal({ ...b, updatedAtMs: 8 });
    });

    it('keep their account where only the settings change, and the other way round', async () => {
      await store.slots.put(slot('a'));
      const settings = { upstream: 'simulator' };
      expect(await store.slots.update('a', { settings, updatedAtMs: 5 })).to.deep.equal({
        ...slot('a'),
        settings,
        updatedAtMs: 5,
      });
      const account = { kind: 'none' };
      await store.slots.update('a', { account, updatedAtMs: 6 });
      expect(await store.slots.get('a')).to.deep.equal({ ...slot('a'), settings, account, updatedAtMs: 6 });
      expect(await store.slots.update('z', { updatedAtMs: 1 })).to.equal(undefined);
    });

    it('can be deleted once', async () => {
      await store.slots.put(slot('a'));
      expect(await store.slots.delete('a')).to.equal(true);
      expect(await store.slots.delete('a')).to.equal(false);
      expect(await store.slots.list()).to.deep.equal([]);
    });
  });

  describe('what expires', () => {
    it('is a session: gone at its time, or when it is deleted', async () => {
      const session = {
        tokenHash: 't',
        csrfHash: 'c',
        actor: { kind: 'oidc', name: 'ada@example.com', role: 'viewer' },
        createdAtMs: 1,
        expiresAtMs: clock.nowMs + 1,
        address: '192.0.2.1',
        userAgent: 'Mozilla/5.0',
      } as const;
      await store.sessions.put(session);
      expect(await store.sessions.get('t')).to.deep.equal(session);
      clock.nowMs += 1;
      expect(await store.sessions.get('t')).to.equal(undefined);
      await store.sessions.put({ ...session, expiresAtMs: clock.nowMs + 1 });
      expect(await store.sessions.delete('t')).to.equal(true);
      expect(await store.sessions.delete('t')).to.equal(false);
    });

    it('is listed as a session while it lasts, newest first, with the time of its last request', async () => {
      const actor = { kind: 'password', name: 'password', role: 'admin' } as const;
      const session = (tokenHash: string, createdAtMs: number, lastsMs: number) =>
        store.sessions.put({
          tokenHash,
          csrfHash: 'c',
          actor,
          createdAtMs,
          expiresAtMs: clock.nowMs + lastsMs,
        });
      await session('a', 1, 2);
      await session('b', 2, 1);
      await session('c', 3, 2);
      clock.nowMs += 1;
      await store.sessions.touch('a', 500);
      await store.sessions.touch('a', 400);
      await store.sessions.touch('nobody', 400);
      const listed = await store.sessions.list();
      expect(listed.map(({ tokenHash, lastSeenAtMs }) => [tokenHash, lastSeenAtMs])).to.deep.equal([
        ['c', undefined],
        ['a', 500],
      ]);
      expect(listed[0]?.actor).to.deep.equal(actor);
    });

    it('is a binding', async () => {
      await store.bindings.put('s', { slotId: 'a', expiresAtMs: clock.nowMs + 1 });
      await store.bindings.put('t', { slotId: 'a', expiresAtMs: clock.nowMs + 1 });
      await store.bindings.put('s', { slotId: 'b', expiresAtMs: clock.nowMs + 1 });
      await store.bindings.delete('t');
      expect(await store.bindings.get('s')).to.deep.equal({ slotId: 'b', expiresAtMs: clock.nowMs + 1 });
      expect(await store.bindings.get('t')).to.equal(undefined);
      clock.nowMs += 1;
      expect(await store.bindings.get('s')).to.equal(undefined);
    });

    it('is counted by slot as long as it is bound', async () => {
      expect(await store.bindings.countBySlot()).to.deep.equal(new Map());
      for (const [key, slotId, inMs] of [
        ['s', 'a', 1],
        ['t', 'a', 2],
        ['u', 'b', 2],
      ] as const)
        await store.bindings.put(key, { slotId, expiresAtMs: clock.nowMs + inMs });
      expect(await store.bindings.countBySlot()).to.deep.equal(
        new Map([
          ['a', 2],
          ['b', 1],
        ]),
      );
      clock.nowMs += 1;
      expect((await store.bindings.countBySlot()).get('a')).to.equal(1);
    });

    it('is a response, which is shown to its owner only, as it was stored', async () => {
      const stored = response('r', clock.nowMs + 1);
      await store.responses.put(stored);
      expect(await store.responses.get('me', 'r')).to.deep.equal(stored);
      expect(await store.responses.get('you', 'r')).to.equal(undefined);
      expect(await store.responses.delete('you', 'r')).to.equal(false);
      expect(await store.responses.delete('me', 'r')).to.equal(true);
      expect(await store.responses.delete('me', 'r')).to.equal(false);
      await store.responses.put(stored);
      clock.nowMs += 1;
      expect(await store.responses.get('me', 'r')).to.equal(undefined);
      expect(await store.responses.delete('me', 'r')).to.equal(false);
    });

    it('is a response whose answer can be read without its input', async () => {
      await store.responses.put(response('r', clock.nowMs + 1));
      expect(await store.responses.getResponse('me', 'r')).to.deep.equal({ id: 'r', n: 1.5 });
      expect(await store.responses.getResponse('you', 'r')).to.equal(undefined);
      clock.nowMs += 1;
      expect(await store.responses.getResponse('me', 'r')).to.equal(undefined);
    });

    it('is deleted in steps, and nothing else with it', async () => {
      const [old, young] = [clock.nowMs + 1, clock.nowMs + 2];
      for (const [id, expiresAtMs] of [
        ['1', old],
        ['2', old],
        ['3', old],
        ['4', young],
      ] as const) {
        await store.bindings.put(id, { slotId: 'a', expiresAtMs });
        await store.responses.put(response(id, expiresAtMs));
        const actor = { kind: 'password', name: 'password', role: 'admin' } as const;
        await store.sessions.put({ tokenHash: id, csrfHash: 'c', actor, createdAtMs: 1, expiresAtMs });
      }
      clock.nowMs = old;
      for (const part of [store.bindings, store.responses, store.sessions]) {
        const steps = [await part.deleteExpired(2), await part.deleteExpired(2), await part.deleteExpired(2)];
        expect(steps).to.deep.equal([2, 1, 0]);
      }
      expect(await store.bindings.get('4')).to.not.equal(undefined);
      expect(await store.responses.get('me', '4')).to.not.equal(undefined);
      expect(await store.sessions.get('4')).to.not.equal(undefined);
    });
  });

  describe('its responses', () => {
    const quota = { bytes: 1e9, count: 3 };
    const put = async (id: string, changes: Partial<StoredResponse> = {}, limits = quota) => {
      await store.responses.put({ ...response(id, clock.nowMs + 1000), ...changes }, limits);
      clock.nowMs += 1;
    };
    const kept = async (owner: string, ids: readonly string[]) => {
      const found = await Promise.all(ids.map((id) => store.responses.get(owner, id)));
      return ids.filter((_, at) => found[at] !== undefined);
    };

    it('make room for the newest of their owner, the oldest first, and leave others alone', async () => {
      await put('theirs', { owner: 'you' });
      for (const id of ['z', 'a', 'm', 'b', 'y']) await put(id);
      expect(await kept('me', ['z', 'a', 'm', 'b', 'y'])).to.deep.equal(['m', 'b', 'y']);
      expect(await kept('you', ['theirs'])).to.deep.equal(['theirs']);
    });

    it('are also bounded by their bytes together, in UTF-8', async () => {
      const input = ['é'.repeat(1000)];
      for (const id of ['1', '2', '3']) await put(id, { input }, { bytes: 5000, count: 10 });
      expect(await kept('me', ['1', '2', '3'])).to.deep.equal(['2', '3']);
      await put('4', { input: ['x'.repeat(6000)] }, { bytes: 5000, count: 10 });
      expect(await kept('me', ['1', '2', '3', '4'])).to.deep.equal([]);
    });

    it('are not kept where a single one is larger than it may be', async () => {
      const eachBytes = 500;
      const small = response('small', clock.nowMs + 1000);
      const large = { ...response('large', clock.nowMs + 1000), input: ['x'.repeat(500)] };
      expect(await store.responses.put(small, { ...quota, eachBytes })).to.equal(true);
      expect(await store.responses.put(large, { ...quota, eachBytes })).to.equal(false);
      expect(await store.responses.put(large, quota)).to.equal(true);
      expect(await kept('me', ['small', 'large'])).to.deep.equal(['small', 'large']);
    });

    it('make room in one step where the quota has become small', async () => {
      const ids = Array.from({ length: 250 }, (_, at) => String(at));
      for (const id of ids) await put(id, {}, { bytes: 1e9, count: 1000 });
      await put('last', {}, { bytes: 1e9, count: 2 });
      expect(await kept('me', [...ids, 'last'])).to.deep.equal(['249', 'last']);
    });

    it('are counted by owner: those that are replaced once, those that are gone no more', async () => {
      expect(await store.responses.totals()).to.deep.equal(new Map());
      await put('1', { input: ['x'.repeat(100)] });
      await put('1', { input: ['x'.repeat(50)] });
      await put('2', { owner: 'you', input: [] });
      const one = await store.responses.totals();
      expect(one.get('me')!.count).to.equal(1);
      expect(one.get('me')!.bytes).to.be.within(60, 120);
      expect(one.get('you')!.count).to.equal(1);
      await put('3');
      expect((await store.responses.totals()).get('me')!.count).to.equal(2);
      await store.responses.delete('me', '3');
      expect((await store.responses.totals()).get('me')).to.deep.equal(one.get('me'));
      clock.nowMs += 2000;
      await store.responses.deleteExpired(10);
      expect(await store.responses.totals()).to.deep.equal(new Map());
    });

    it('are counted right where many come at once', async () => {
      const ids = Array.from({ length: 40 }, (_, at) => String(at));
      await Promise.all(ids.map((id) => store.responses.put(response(id, clock.nowMs + 1000), quota)));
      expect((await store.responses.totals()).get('me')!.count).to.equal(3);
      expect(await kept('me', ids)).to.have.length(3);
    });
  });

  describe('its spaces of plugins', () => {
    const list = async (space: string, query: object = {}) =>
      (await store.spaces.list(space, { prefix: '', limit: 100, ...query })).map(({ key: name }) => name);

    it('keep texts by key, each space its own', async () => {
      await store.spaces.put('a', { key: 'k', text: '"old"' }, 10);
      await store.spaces.put('a', { key: 'k', text: '"é \u{1F600}"' }, 10);
      await store.spaces.put('a","k', { key: 'k', text: '2' }, 10);
      expect(await store.spaces.get('a', 'k')).to.equal('"é \u{1F600}"');
      expect(await store.spaces.get('b', 'k')).to.equal(undefined);
      expect(await list('a')).to.deep.equal(['k']);
      expect(await store.spaces.delete('b', 'k')).to.equal(false);
      expect(await store.spaces.delete('a', 'k')).to.equal(true);
      expect(await store.spaces.delete('a', 'k')).to.equal(false);
      expect(await store.spaces.get('a","k', 'k')).to.equal('2');
    });

    it('list the keys with a prefix in their order, page by page', async () => {
      for (const name of ['u:b', 'u:a', 'u:', 'U:c', 'u%d', 'v', 'u:ä'])
        await store.spaces.put('a', { key: name, text: '1' }, 10);
      expect(await list('a', { prefix: 'u:' })).to.deep.equal(['u:', 'u:a', 'u:b', 'u:ä']);
      expect(await list('a', { prefix: 'u:', limit: 2 })).to.deep.equal(['u:', 'u:a']);
      expect(await list('a', { prefix: 'u:', after: 'u:a', limit: 1 })).to.deep.equal(['u:b']);
      expect(await list('a', { prefix: 'u:', after: 'A' })).to.deep.equal(['u:', 'u:a', 'u:b', 'u:ä']);
      expect(await list('a', { prefix: 'u:', after: 'v' })).to.deep.equal([]);
      expect(await list('a', { limit: 0 })).to.deep.equal([]);
    });

    it('forget what has expired, and sweep it in steps', async () => {
      const expiresAtMs = clock.nowMs + 60_000;
      for (const name of ['x', 'y', 'z'])
        await store.spaces.put('a', { key: name, text: '1', expiresAtMs }, 10);
      await store.spaces.put('a', { key: 'kept', text: '1' }, 10);
      expect(await list('a')).to.deep.equal(['kept', 'x', 'y', 'z']);
      clock.nowMs = expiresAtMs;
      expect(await store.spaces.get('a', 'x')).to.equal(undefined);
      expect(await list('a')).to.deep.equal(['kept']);
      expect(await store.spaces.delete('a', 'x')).to.equal(false);
      await store.spaces.put('a', { key: 'y', text: '2' }, 10);
      const swept = await store.spaces.deleteExpired(1);
      expect([swept, await store.spaces.deleteExpired(5)]).to.satisfy(([a, b]: number[]) => a! + b! >= 1);
      expect(await store.spaces.deleteExpired(5)).to.equal(0);
      expect(await list('a')).to.deep.equal(['kept', 'y']);
    });

    it('are full at so many keys, of which the expired count for nothing', async () => {
      const put = (name: string, expiresAtMs?: number) =>
        store.spaces.put('a', { key: name, text: '1', ...(expiresAtMs && { expiresAtMs }) }, 2);
      expect(await put('x', clock.nowMs + 1000)).to.equal(true);
      expect(await put('y')).to.equal(true);
      expect(await put('z')).to.equal(false);
      expect(await put('y')).to.equal(true);
      expect(await store.spaces.put('b', { key: 'z', text: '1' }, 2)).to.equal(true);
      expect(await list('a')).to.deep.equal(['x', 'y']);
      clock.nowMs += 1000;
      expect(await put('z')).to.equal(true);
      expect(await list('a')).to.deep.equal(['y', 'z']);
    });
  });

  describe('its ledger', () => {
    const t0 = Date.UTC(2026, 0, 1, 10);
    const hour = 3_600_000;

    it('gives a row back as it was', async () => {
      const full = row('1', t0, {
        keyId: 'k',
        slot: 's',
        model: 'm',
        code: 'internal',
        failed: true,
        firstEventMs: 0,
      });
      await store.ledger.append([full, row('2', t0 - 1)]);
      const { rows, cursor } = await store.ledger.requests({}, { limit: 10 });
      expect(rows).to.deep.equal([full, row('2', t0 - 1)]);
      expect(cursor).to.equal(undefined);
    });

    it('gives one row by its time and id, with its trace, which a list leaves out', async () => {
      const trace = {
        stages: [
          { stage: 'auth', ms: 0.12 },
          { stage: 'upstream-call', ms: 7 },
        ],
        calls: [
          { slot: 'a', ms: 3, code: 'overloaded' },
          { slot: 'b', ms: 4.5 },
        ],
      };
      const bare = row('1', t0);
      await store.ledger.append([{ ...bare, trace }, row('2', t0, { trace: { stages: [], calls: [] } })]);
      expect(await store.ledger.get(bare)).to.deep.equal({ ...bare, trace });
      expect(await store.ledger.get({ id: '2', atMs: t0 })).to.deep.include({
        trace: { stages: [], calls: [] },
      });
      for (const other of [
        { id: '1', atMs: t0 + 1 },
        { id: '3', atMs: t0 },
      ])
        expect(await store.ledger.get(other)).to.equal(undefined);
      const { rows } = await store.ledger.requests({}, { limit: 10 });
      expect(rows[1]).to.deep.equal(bare);
    });

    it('counts a row once however often it comes', async () => {
      await store.ledger.append([]);
      await store.ledger.append([row('1', t0), row('2', t0)]);
      await store.ledger.append([row('2', t0), row('3', t0), row('3', t0)]);
      expect((await store.ledger.requests({}, { limit: 10 })).rows).to.have.length(3);
      await store.ledger.append([row('1', t0)]);
      for (const stepMs of [hour, 1000]) expect((await sums(store, t0, stepMs))[0]!.requests).to.equal(3);
    });

    it('takes many rows at once, also where some of them are there already', async () => {
      const rows = Array.from({ length: 237 }, (_, at) => row(String(at), t0 + at));
      await store.ledger.append(rows.slice(0, 123));
      await store.ledger.append(rows);
      await Promise.all([store.ledger.append(rows), store.ledger.append([row('last', t0)])]);
      for (const stepMs of [hour, 1000]) expect((await sums(store, t0, stepMs))[0]!.requests).to.equal(238);
    });

    it('turns its pages without a gap or a row twice, while new rows come', async () => {
      const rows = Array.from({ length: 25 }, (_, at) => row(`r${at}`, t0 + Math.floor(at / 4)));
      await store.ledger.append(rows);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.ledger.requests({}, { limit: 4, ...(cursor && { cursor }) });
        seen.push(...page.rows.map(({ id }) => id));
        cursor = page.cursor;
        await store.ledger.append([row(`new${seen.length}`, t0 + 1000)]);
      } while (cursor);
      expect(seen.toSorted()).to.deep.equal(rows.map(({ id }) => id).toSorted());
    });

    it('refuses a cursor that it has not given', async () => {
      for (const cursor of ['', 'x', '1', '1.', "1'.x", '-1.x']) {
        const refusal = await store.ledger
          .requests({}, { limit: 1, cursor })
          .catch((error: unknown) => error);
        expect(refusal, cursor).to.be.instanceOf(TypeError);
      }
    });

    it('finds rows by each part of a filter, and by several', async () => {
      const found = {
        keyId: 'k',
        slot: 's',
        model: 'm',
        format: 'chat',
        status: 502,
        code: 'c',
        failed: true,
      } as const;
      await store.ledger.append([
        row('1', t0, { ...found, requestId: 'q' }),
        row('2', t0 + 5, { keyId: 'k2' }),
      ]);
      const parts = Object.entries({ ...found, requestId: 'q', toMs: t0 + 1 });
      for (const filter of [
        ...parts.map(([name, value]) => ({ [name]: value })),
        Object.fromEntries(parts),
      ]) {
        const { rows } = await store.ledger.requests(filter, { limit: 10 });
        expect(
          rows.map(({ id }) => id),
          JSON.stringify(filter),
        ).to.deep.equal(['1']);
      }
      const ids = async (filter: object) =>
        (await store.ledger.requests(filter, { limit: 9 })).rows.map(({ id }) => id);
      expect(await ids({ fromMs: t0 + 5 })).to.deep.equal(['2']);
      expect(await ids({ failed: false })).to.deep.equal(['2']);
      expect(await ids({ keyId: 'k', status: 200 })).to.deep.equal([]);
    });

    it('sums up by step and by group, the same from hours and from rows', async () => {
      await store.ledger.append([
        row('1', t0, { keyId: 'a', slot: 's', firstEventMs: 10, durationMs: 100 }),
        row('2', t0 + hour - 1, { keyId: 'a', slot: 't', failed: true, durationMs: 7 }),
        row('3', t0 + hour, { keyId: 'b', slot: 's', model: 'm', firstEventMs: 30, durationMs: 1 }),
      ]);
      await store.ledger.append([row('4', t0 + 1, { format: 'chat' })]);
      const rowsOf = (stepMs: number, by: 'key' | 'slot' | 'model' | 'format' | null) =>
        store.ledger.usage({ fromMs: t0, toMs: t0 + 2 * hour, by, stepMs });
      const brief = ({ atMs, group, requests, errors }: UsageSum) => [
        (atMs - t0) / hour,
        group,
        requests,
        errors,
      ];
      expect((await rowsOf(hour, null)).map(brief)).to.deep.equal([
        [0, '', 3, 1],
        [1, '', 1, 0],
      ]);
      expect((await rowsOf(hour, 'key')).map(brief)).to.deep.equal([
        [0, '', 1, 0],
        [0, 'a', 2, 1],
        [1, 'b', 1, 0],
      ]);
      const ofKey = { fromMs: t0, toMs: t0 + 2 * hour, by: null, keyId: 'a' };
      for (const stepMs of [2 * hour, 2 * hour - 1])
        expect((await store.ledger.usage({ ...ofKey, stepMs })).map(brief)).to.deep.equal([[0, '', 2, 1]]);
      expect((await rowsOf(2 * hour, 'slot')).map(brief)).to.deep.equal([
        [0, '', 1, 0],
        [0, 's', 2, 0],
        [0, 't', 1, 1],
      ]);
      expect((await rowsOf(2 * hour, 'format')).map(brief)).to.deep.equal([
        [0, 'chat', 1, 0],
        [0, 'messages', 3, 1],
      ]);
      expect((await rowsOf(hour / 2, null)).map(brief)).to.deep.equal([
        [0, '', 2, 0],
        [0.5, '', 1, 1],
        [1, '', 1, 0],
      ]);
      const [whole] = await rowsOf(24 * hour, null);
      expect(whole).to.deep.equal({
        atMs: t0,
        group: '',
        requests: 4,
        errors: 1,
        billed: times(4, tokens(0)),
        shown: times(4, tokens(1)),
        firstEvents: 2,
        firstEventMsSum: 40,
        durationMsSum: 108,
      });
      expect((await rowsOf(2 * hour - 1, null))[0]).to.include({
        requests: 4,
        firstEvents: 2,
        durationMsSum: 108,
      });
    });

    it('sums up by tag and by the values of one, the same from hours and from rows', async () => {
      const tags = (team: string, feature?: string) => ({ tags: { team, ...(feature && { feature }) } });
      await store.ledger.append([
        row('1', t0, { keyId: 'a', ...tags('red', 'search') }),
        row('2', t0 + 1, { keyId: 'b', ...tags('red'), failed: true }),
        row('3', t0 + hour, { keyId: 'a', ...tags('blue, "x" \u{1F600}') }),
        row('4', t0 + 2, { keyId: 'a' }),
      ]);
      const span = { fromMs: t0, toMs: t0 + 2 * hour, by: 'tag' } as const;
      const brief = async (query: { tag?: string; keyId?: string }, stepMs: number) =>
        (await store.ledger.usage({ ...span, ...query, stepMs })).map((sum) => [
          sum.group,
          sum.requests,
          sum.errors,
        ]);
      for (const stepMs of [2 * hour, 2 * hour - 1]) {
        const byName = [
          ['feature', 1, 0],
          ['team', 3, 1],
        ];
        expect(await brief({}, stepMs)).to.deep.equal(byName);
        const byTeam = await brief({ tag: 'team' }, stepMs);
        expect(byTeam).to.deep.equal([
          ['blue, "x" \u{1F600}', 1, 0],
          ['red', 2, 1],
        ]);
        expect(await brief({ tag: 'team', keyId: 'b' }, stepMs)).to.deep.equal([['red', 1, 1]]);
        expect(await brief({ tag: 'constructor' }, stepMs)).to.deep.equal([]);
      }
      const { rows } = await store.ledger.requests({}, { limit: 9 });
      expect(rows.map((one) => one.tags?.['team'])).to.deep.equal([
        'blue, "x" \u{1F600}',
        undefined,
        'red',
        'red',
      ]);
      expect((await store.ledger.get({ atMs: t0, id: '1' }))?.tags).to.deep.equal(tags('red', 'search').tags);
    });

    it('forgets the sums of tags with their hours', async () => {
      const tagged = ['1', '2', '3', '4', '5'].map((id, at) => row(id, t0 + at, { tags: { user: id } }));
      await store.ledger.append([...tagged, row('young', t0 + hour, { tags: { user: 'x' } })]);
      for (let step = 0; step < 4; step += 1) await store.ledger.prune(t0 + hour + 5, 2);
      const span = { fromMs: t0, toMs: t0 + 2 * hour, stepMs: hour, by: 'tag' } as const;
      const groups = async (query: object) =>
        (await store.ledger.usage({ ...span, ...query })).map(({ atMs, group }) => [atMs - t0, group]);
      expect(await groups({ tag: 'user' })).to.deep.equal([[hour, 'x']]);
      expect(await groups({})).to.deep.equal([[hour, 'user']]);
    });

    it('gives no more sums than are asked for', async () => {
      await store.ledger.append(['a', 'b', 'c'].map((slot, at) => row(slot, t0 + at, { slot })));
      const query = { fromMs: t0, toMs: t0 + hour, by: 'slot', limit: 2 } as const;
      for (const stepMs of [hour, 60_000]) {
        const found = await store.ledger.usage({ ...query, stepMs });
        expect(found.map(({ group }) => group)).to.deep.equal(['a', 'b']);
      }
    });

    it('widens a range to whole hours where it answers by hours, and not where it counts rows', async () => {
      await store.ledger.append([row('1', t0 + 1), row('2', t0 + hour + 5), row('3', t0 + 2 * hour)]);
      const requests = async (fromMs: number, toMs: number, stepMs: number) =>
        (await store.ledger.usage({ fromMs, toMs, by: null, stepMs })).map((sum) => sum.requests);
      expect(await requests(t0 + 2, t0 + hour + 1, hour)).to.deep.equal([1, 1]);
      expect(await requests(t0 + 2, t0 + hour + 6, 60_000)).to.deep.equal([1]);
    });

    it('forgets whole hours in steps', async () => {
      await store.ledger.append(['1', '2', '3', '4', '5'].map((id, at) => row(id, t0 + at)));
      await store.ledger.append([row('young', t0 + hour)]);
      const steps = [];
      for (let step = 0; step < 4; step += 1) steps.push(await store.ledger.prune(t0 + hour + 5, 2));
      expect(steps).to.deep.equal([2, 2, 1, 0]);
      expect((await store.ledger.requests({}, { limit: 9 })).rows.map(({ id }) => id)).to.deep.equal([
        'young',
      ]);
      expect((await sums(store, t0, hour)).map(({ requests }) => requests)).to.deep.equal([1]);
    });
  });
}

/** A key with nothing but what a key must have. */
export function key(id: string, fields: Partial<ProtocolKey> = {}): ProtocolKey {
  return { id, name: `key ${id}`, hash: `hash of ${id}`, last4: 'wxyz', createdAtMs: 1000, ...fields };
}

/** A row with nothing but what a row must have. */
export function row(id: string, atMs: number, fields: Partial<LedgerRow> = {}): LedgerRow {
  return {
    id,
    atMs,
    requestId: `req ${id}`,
    format: 'messages',
    status: 200,
    failed: false,
    streamed: true,
    attempts: 1,
    durationMs: 0,
    billed: tokens(0),
    shown: tokens(1),
    ...fields,
  };
}

function tokens(from: number): LedgerTokens {
  return {
    input: from + 1,
    cacheRead: from + 2,
    cacheWrite5m: from + 3,
    cacheWrite1h: from + 4,
    output: from + 5,
  };
}

function times(factor: number, one: LedgerTokens): LedgerTokens {
  const entries = Object.entries(one).map(([field, amount]) => [field, factor * amount]);
  return Object.fromEntries(entries) as LedgerTokens;
}

function slot(id: string): StoredSlot {
  const settings = { upstream: 'messages', models: ['*'] };
  return { id, settings, account: { kind: 'api-key', key: 'k' }, createdAtMs: 1, updatedAtMs: 2 };
}

function response(id: string, expiresAtMs: number): StoredResponse {
  return {
    id,
    owner: 'me',
    input: [{ text: 'NUL \0 and half \ud800 a pair' }],
    response: { id, n: 1.5 },
    expiresAtMs,
  };
}

async function sums(store: Store, fromMs: number, stepMs: number): Promise<readonly UsageSum[]> {
  return store.ledger.usage({ fromMs, toMs: fromMs + 2 * 3_600_000, by: null, stepMs });
}
