import { expect } from 'chai';
import { fakeModels } from '@gw2api/gateway/testing';
import type { Upstream } from '#src/plugin/upstream/index.js';
import { defineAccount, defineUpstream } from '@gw2api/gateway/plugin/upstream';
import { ConfigError, type SlotConfig } from '#src/config/config.js';
import { later } from '../transport/upstream-kit.js';
import {
  fakePlugins,
  leaseRequest,
  openPool,
  refusal,
  rejection,
  settled,
  slotCall,
  slotConfig,
  stateOf,
  type Kit,
} from './kit.js';

describe('a reload of the slots', () => {
  it('keeps states, in-flight counts and upstreams by id', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b')]);
    await kit.pool.lease(leaseRequest());
    kit.pool.pause('b');
    await kit.pool.reload([slotConfig('b', { weight: 3 }), slotConfig('a')]);
    expect(
      kit.pool.list().map(({ id, state, inFlight, weight }) => ({ id, state, inFlight, weight })),
    ).to.deep.equal([
      { id: 'b', state: 'paused', inFlight: 0, weight: 3 },
      { id: 'a', state: 'ready', inFlight: 1, weight: 1 },
    ]);
    expect(opened(kit, 'a')).to.equal(1);
    expect(opened(kit, 'b')).to.equal(1);
  });

  it('opens a new upstream for changed settings, and closes the old one when its last request has ended', async () => {
    const kit = await openPool([slotConfig('a')]);
    const old = kit.upstream('a');
    const lease = await kit.pool.lease(leaseRequest());
    await kit.pool.reload([slotConfig('a', { baseUrl: 'http://127.0.0.1:1' })]);
    expect(opened(kit, 'a')).to.equal(2);
    await lease.slot.generate(slotCall());
    expect(old.calls).to.have.length(1);
    expect(old.isClosed).to.equal(false);
    lease.release();
    expect(old.isClosed).to.equal(true);
    await (await kit.pool.lease(leaseRequest())).slot.generate(slotCall());
    expect(kit.upstream('a').calls).to.have.length(1);
    expect(kit.pool.list()[0]?.inFlight).to.equal(1);
  });

  it('drains a slot that was taken away, and then closes it', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b')]);
    const lease = await kit.pool.lease(leaseRequest());
    await kit.pool.reload([slotConfig('b')]);
    expect(kit.pool.get('a')).to.equal(undefined);
    expect(kit.upstream('a').isClosed).to.equal(false);
    lease.release();
    expect(kit.upstream('a').isClosed).to.equal(true);
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('b');
  });

  it('closes what still drains when the pool closes', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b')]);
    await kit.pool.lease(leaseRequest());
    await kit.pool.reload([slotConfig('b')]);
    await kit.pool.close();
    expect(kit.upstream('a').isClosed).to.equal(true);
  });

  it('lifts a rejection by a changed credential, and by nothing else', async () => {
    const kit = await openPool([slotConfig('a')]);
    await (await kit.pool.lease(leaseRequest())).another(refusal(401));
    await kit.pool.reload([slotConfig('a', { maxConcurrent: 9 })]);
    expect(stateOf(kit, 'a')).to.include({ state: 'rejected' });
    await kit.pool.reload([
      slotConfig('a', { maxConcurrent: 9, account: { kind: 'api-key', key: 'new', header: 'x-api-key' } }),
    ]);
    expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
    kit.clock.pass(1000); // by then the states have been stored
    expect(kit.clock.timers).to.equal(0);
  });

  it('is not undone by a refusal of the old credential', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lease = await kit.pool.lease(leaseRequest());
    await kit.pool.reload([slotConfig('a', { account: { kind: 'none' } })]);
    await lease.another(refusal(401));
    expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
  });

  it('changes nothing where an upstream cannot be opened, and leaves none open', async () => {
    const kit = await openPool([slotConfig('a')]);
    const bad: readonly SlotConfig[] = [
      slotConfig('a', { baseUrl: 'http://127.0.0.1:1' }),
      slotConfig('b', { upstream: 'unheard-of' }),
    ];
    const error = await rejection(kit.pool.reload(bad));
    expect(error.message).to.equal('Slot "b" has an unknown upstream "unheard-of".');
    expect(kit.upstreams.get('a')?.map(({ isClosed }) => isClosed)).to.deep.equal([false, true]);
    expect(kit.pool.list().map(({ id }) => id)).to.deep.equal(['a']);
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('a');
  });

  it('does not wait for a plugin that hangs, closes what opens late, and goes on', async () => {
    const kit = await openPool([slotConfig('a')]);
    const late = later<Upstream>();
    const closed = later();
    const plugin = defineUpstream({ name: 'hangs', open: () => late.promise });
    const plugins = { ...fakePlugins(plugin), timeoutMs: 10 };
    const error = await rejection(kit.pool.reload([slotConfig('b')], { plugins }));
    expect(error).to.be.instanceOf(ConfigError);
    expect(error.message).to.match(/slots\[0\]\.upstream "fake" was not opened within 0\.01 s/);
    late.resolve({ generate: () => Promise.reject(new Error('no')), close: async () => closed.resolve() });
    await closed.promise;
    await kit.pool.reload([slotConfig('a'), slotConfig('c')]);
    expect(kit.pool.list().map(({ id }) => id)).to.deep.equal(['a', 'c']);
  });

  it('does not wait for one whose start hangs, and closes it', async () => {
    const kit = await openPool([slotConfig('a')]);
    await kit.pool.start();
    let isClosed = false;
    const plugin = defineUpstream({
      name: 'hangs',
      open: () => ({
        start: () => new Promise(() => undefined),
        generate: () => Promise.reject(new Error('no')),
        close: async () => void (isClosed = true),
      }),
    });
    const plugins = { ...fakePlugins(plugin), timeoutMs: 10 };
    const error = await rejection(kit.pool.reload([slotConfig('b')], { plugins }));
    expect(error.message).to.match(/slots\[0\]\.upstream "fake" did not start within 0\.01 s/);
    expect(isClosed).to.equal(true);
    expect(kit.pool.list().map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('closes an account whose upstream cannot be opened', async () => {
    const kit = await openPool([slotConfig('a')]);
    let isClosed = false;
    const account = defineAccount({
      name: 'closable',
      open: () => ({ authorize: () => ({}), close: async () => void (isClosed = true) }),
    });
    const broken = defineUpstream({
      name: 'broken',
      open: () => {
        throw new Error('no way');
      },
    });
    const chosen = { upstream: { plugin: broken, options: {} }, account: { plugin: account, options: {} } };
    const plugins = { ...fakePlugins(broken), slot: () => Promise.resolve(chosen) };
    await rejection(kit.pool.reload([slotConfig('b')], { plugins }));
    expect(isClosed).to.equal(true);
  });

  it('closes the others where one cannot be closed, or hangs', async () => {
    const closes = [
      () => Promise.reject(new Error('it is stuck')),
      () => new Promise<void>(() => undefined),
      () => Promise.resolve(),
    ];
    let closed = 0;
    const plugin = defineUpstream({
      name: 'stuck',
      open: (_options, { slot: { id } }) => ({
        generate: () => Promise.reject(new Error('It is not called.')),
        close() {
          closed += 1;
          return closes[Number(id)]!();
        },
      }),
    });
    const slots = ['0', '1', '2'].map((id) => slotConfig(id));
    const { pool } = await openPool(slots, { plugins: fakePlugins(plugin) });
    await pool.close();
    expect(closed).to.equal(3);
  });

  it('takes another catalog', async () => {
    const kit = await openPool([slotConfig('a', { models: ['new-*'] })]);
    expect(await rejection(kit.pool.lease(leaseRequest({ model: 'new-1' })))).to.include({ status: 404 });
    const models = fakeModels({ id: 'new-1' });
    await kit.pool.reload([slotConfig('a', { models: ['new-*'] })], { models });
    expect((await kit.pool.lease(leaseRequest({ model: 'new-1' }))).slot.id).to.equal('a');
  });

  it('tells those who wait for a slot that was taken away', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
    await kit.pool.lease(leaseRequest());
    const waiting = rejection(kit.pool.lease(leaseRequest()));
    await settled();
    await kit.pool.reload([]);
    expect(await waiting).to.include({ code: 'model_not_found' });
  });
});

describe('an operator', () => {
  it('can diagnose a slot', async () => {
    const kit = await openPool([slotConfig('a')]);
    const steps = await kit.pool.diagnose('a', new AbortController().signal);
    expect(steps).to.deep.equal([{ step: 'resolve', ok: true, ms: 1, detail: '127.0.0.1' }]);
  });

  it('sees how many slots are schedulable', async () => {
    const { pool } = await openPool([slotConfig('a'), slotConfig('b'), slotConfig('c')]);
    pool.pause('a');
    pool.drain('b');
    expect(pool.schedulable).to.equal(1);
  });

  it('lets the requests of a paused slot end', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lease = await kit.pool.lease(leaseRequest());
    kit.pool.pause('a');
    await lease.slot.generate(slotCall());
    lease.answered({});
    lease.release();
    expect(kit.pool.list()[0]).to.include({ state: 'paused', inFlight: 0 });
  });
});

function opened({ upstreams }: Kit, id: string): number {
  return upstreams.get(id)?.length ?? 0;
}
