import { expect } from 'chai';
import type { ProtocolKey } from '#src/plugin/index.js';
import type { StoredResponse } from '#src/plugin/format/index.js';
import type { StoredSlot, WholeStore } from '#src/state/store/contract/store.js';
import { describeLedger } from './ledger-conformance.js';

import { describeAudit } from './conformance-audit.js';
import { describeErrorTexts } from './conformance-error-texts.js';
import { describePipelines } from './conformance-pipelines.js';
import { describeSlotHistory } from './conformance-slot-history.js';
import { describeTeams } from './conformance-teams.js';

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
  describeTeams(() => store);
  describePipelines(
    () => store,
    () => clock.nowMs,
  );
  describeSlotHistory(() => store);

  describeErrorTexts(() => store);

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
        usdPerDay: 0.1,
        usdPerMonth: 1234.56,
        maxConcurrent: 5,
        team: 't1',
        pipeline: 'red',
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

    it('are found by their former secrets, all of which end together at the latest when the last one does', async () => {
      const secret = (name: string) => ({ hash: `hash of ${name}`, last4: name });
      await store.keys.put(key('k1', { note: 'stays' }));
      const nowMs = clock.nowMs;
      const first = { ...secret('k1'), last4: 'wxyz', endsAtMs: nowMs + 100 };
      const once = { ...key('k1', { note: 'stays' }), ...secret('two'), formerSecrets: [first] };
      expect(await store.keys.rotate('k1', secret('two'), nowMs + 100)).to.deep.equal(once);
      const second = { ...secret('two'), endsAtMs: nowMs + 500 };
      const twice = { ...once, ...secret('three'), formerSecrets: [first, second] };
      expect(await store.keys.rotate('k1', secret('three'), nowMs + 500)).to.deep.equal(twice);
      for (const name of ['k1', 'two', 'three'])
        expect(await store.keys.findByHash(`hash of ${name}`), name).to.deep.equal(twice);
      expect(await store.keys.list()).to.deep.equal([twice]);
      expect(await store.keys.update('k1', { name: 'renamed' })).to.deep.equal({ ...twice, name: 'renamed' });
      clock.nowMs += 200;
      const sooner = { ...second, endsAtMs: nowMs + 300 };
      const third = { ...secret('three'), endsAtMs: nowMs + 300 };
      const thrice = { ...twice, name: 'renamed', ...secret('four'), formerSecrets: [sooner, third] };
      expect(await store.keys.rotate('k1', secret('four'), nowMs + 300)).to.deep.equal(thrice);
      expect(await store.keys.findByHash('hash of k1')).to.equal(undefined);
      const atOnce = { ...key('k1', { name: 'renamed', note: 'stays' }), ...secret('five') };
      expect(await store.keys.rotate('k1', secret('five'), clock.nowMs)).to.deep.equal(atOnce);
      for (const name of ['k1', 'two', 'three', 'four'])
        expect(await store.keys.findByHash(`hash of ${name}`), name).to.equal(undefined);
      expect(await store.keys.findByHash('hash of five')).to.deep.equal(atOnce);
      expect(await store.keys.rotate('nobody', secret('six'), nowMs)).to.equal(undefined);
    });

    it('lose no secret where two rotations meet, and keep the latest ten former ones', async () => {
      await store.keys.put(key('k1'));
      const endsAtMs = clock.nowMs + 1000;
      const secret = (at: number) => ({ hash: `hash of ${at}`, last4: `${at}` });
      const both = [0, 1].map((at) => store.keys.rotate('k1', secret(at), endsAtMs));
      await Promise.all(both);
      for (const name of ['k1', '0', '1'])
        expect((await store.keys.findByHash(`hash of ${name}`))?.id, name).to.equal('k1');
      for (let at = 2; at < 12; at += 1) await store.keys.rotate('k1', secret(at), endsAtMs);
      expect((await store.keys.get('k1'))?.formerSecrets).to.have.length(10);
      expect(await store.keys.findByHash('hash of k1')).to.equal(undefined);
      expect((await store.keys.findByHash('hash of 11'))?.last4).to.equal('11');
    });

    it('can be deleted once', async () => {
      await store.keys.put(key('k1'));
      await store.keys.rotate('k1', { hash: 'next', last4: 'next' }, clock.nowMs + 1000);
      expect(await store.keys.delete('k1')).to.equal(true);
      expect(await store.keys.delete('k1')).to.equal(false);
      for (const hash of ['hash of k1', 'next'])
        expect(await store.keys.findByHash(hash)).to.equal(undefined);
      await store.keys.put(key('k1'));
      expect(await store.keys.findByHash('next')).to.equal(undefined);
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
      expect(await store.slotStates.deleteExpired(10)).to.deep.equal({ isDone: true });
      expect(await store.slotStates.deleteExpired(1)).to.deep.equal({ isDone: true });
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
        subject: { issuer: 'https://login.example.com', id: '42' },
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

    it('is the only role of a person, also where several log in at once', async () => {
      const roles = ['admin', 'viewer'] as const;
      const login = (id: string, tokenHash: string, role: 'admin' | 'viewer') =>
        store.sessions.put({
          tokenHash,
          csrfHash: 'c',
          actor: { kind: 'oidc', name: id, role },
          subject: { issuer: 'https://login.example.com', id },
          createdAtMs: 1,
          expiresAtMs: clock.nowMs + 1,
        });
      await login('other', 'other', 'admin');
      for (let round = 0; round < 10; round += 1) {
        const ended = await Promise.all(
          Array.from({ length: 8 }, (_, at) => login('42', `${round}-${at}`, roles[at % 2]!)),
        );
        const left = (await store.sessions.list()).filter(({ subject }) => subject?.id === '42');
        expect(new Set(left.map(({ actor }) => actor.role)).size, `${round}`).to.equal(1);
        expect(ended.reduce((sum, each) => sum + each)).to.be.at.least(4);
        expect(await login('42', 'last', left[0]!.actor.role)).to.equal(0);
      }
      expect(await store.sessions.get('other')).to.not.equal(undefined);
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
        expect(steps.map(({ isDone }) => isDone)).to.deep.equal([false, true, true]);
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
      expect(await store.spaces.deleteExpired(1)).to.deep.equal({ isDone: false });
      expect(await store.spaces.deleteExpired(5)).to.deep.equal({ isDone: true });
      expect(await store.spaces.deleteExpired(1)).to.deep.equal({ isDone: true });
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

  describeLedger(() => store);
}

/** A key with nothing but what a key must have. */
export function key(id: string, fields: Partial<ProtocolKey> = {}): ProtocolKey {
  return { id, name: `key ${id}`, hash: `hash of ${id}`, last4: 'wxyz', createdAtMs: 1000, ...fields };
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
