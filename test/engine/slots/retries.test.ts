import { expect } from 'chai';
import { type SlotLease, GatewayError } from '#src/plugin/index.js';
import {
  failure,
  leaseRequest,
  openPool,
  refusal,
  settled,
  slotConfig,
  sticky,
  unreachable,
  type Kit,
} from './kit.js';

const two = [slotConfig('a'), slotConfig('b')];
const patient = { waitIfWithinMs: 3000 };
const soon = refusal(429, { 'retry-after': '2' });

/** Binds a session to slot a, and takes another lease there. */
async function bound(kit: Kit, key = 's'): Promise<SlotLease> {
  const first = await kit.pool.lease(sticky(key));
  expect(first.slot.id).to.equal('a');
  first.answered({});
  first.release();
  return kit.pool.lease(sticky(key));
}

/** Slot of the lease after a failure, and for how long it was waited for. */
async function after(kit: Kit, next: Promise<SlotLease | undefined>): Promise<[string | undefined, number]> {
  const startMs = kit.clock.now();
  const wait = { isOver: false };
  void next.then(() => (wait.isOver = true));
  await settled();
  for (let step = 0; step < 100 && !wait.isOver; step += 1) {
    kit.clock.pass(100);
    await settled();
  }
  return [(await next)?.slot.id, kit.clock.now() - startMs];
}

describe('a slot that says when to ask again', () => {
  for (const error of [
    soon,
    refusal(503, { 'retry-after': '2' }),
    refusal(529, { 'retry-after-ms': '2000' }),
  ]) {
    it(`is waited for by the session that is bound to it (${error.message})`, async () => {
      const kit = await openPool(two);
      expect(await after(kit, (await bound(kit)).another(error, patient))).to.deep.equal(['a', 2000]);
    });
  }

  it('is waited for by any request that no other slot can serve', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b', { models: ['haiku-5'] })]);
    const lease = await kit.pool.lease(leaseRequest());
    expect(await after(kit, lease.another(soon, patient))).to.deep.equal(['a', 2000]);
  });

  it('is waited for once a request', async () => {
    const kit = await openPool(two);
    const again = (await bound(kit)).another(soon, patient);
    await after(kit, again);
    expect(await after(kit, (await again)!.another(soon, patient))).to.deep.equal(['b', 0]);
  });

  it('is left by a request that is bound to none, where another can serve it', async () => {
    const kit = await openPool(two);
    const lease = await kit.pool.lease(leaseRequest());
    expect(await after(kit, lease.another(soon, patient))).to.deep.equal(['b', 0]);
  });

  for (const [why, error] of [
    ['names a later time', refusal(429, { 'retry-after': '3.5' })],
    ['names none', refusal(429)],
    ['asks not to be asked', refusal(429, { 'retry-after': '2', 'x-should-retry': 'false' })],
    [
      'has a used-up window',
      refusal(429, { 'retry-after': '2', 'anthropic-ratelimit-unified-5h-status': 'rejected' }),
    ],
  ] as const) {
    it(`is not waited for where it ${why}`, async () => {
      const kit = await openPool(two);
      expect(await after(kit, (await bound(kit)).another(error, patient))).to.deep.equal(['b', 0]);
    });
  }

  it('is waited for without a place in it, and no longer than its caller stays', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
    const leaving = new AbortController();
    const lease = await kit.pool.lease(leaseRequest({ signal: leaving.signal }));
    const next = lease.another(soon, patient).catch((error: unknown) => error);
    await settled();
    expect(kit.pool.list()[0]!.inFlight).to.equal(0);
    leaving.abort(new Error('left'));
    expect(await next).to.have.property('message', 'left');
    expect(kit.clock.timers, 'no wait is left, only the ends of throttles').to.be.at.most(3);
    expect(kit.pool.list()[0]!.inFlight).to.equal(0);
  });
});

describe('a slow slot', () => {
  /** Answers of both slots, a's `slowMs` later than b's. */
  async function answered(kit: Kit, slowMs: number): Promise<void> {
    const leases = [await kit.pool.lease(leaseRequest()), await kit.pool.lease(leaseRequest())];
    for (const lease of leases) {
      lease.answered({}, lease.slot.id === 'a' ? slowMs : 1000);
      lease.release();
    }
  }

  async function picks(kit: Kit, count: number): Promise<readonly string[]> {
    const leases: SlotLease[] = [];
    for (let at = 0; at < count; at += 1) leases.push(await kit.pool.lease(leaseRequest()));
    for (const lease of leases) lease.release();
    return leases.map(({ slot }) => slot.id);
  }

  const roomy = [slotConfig('a', { maxConcurrent: 20 }), slotConfig('b', { maxConcurrent: 20 })];

  it('is picked once others have so much to do that it is the faster one again', async () => {
    const kit = await openPool(roomy);
    await answered(kit, 4000);
    expect(await picks(kit, 5)).to.deep.equal(['b', 'b', 'b', 'a', 'b']);
  });

  it('is one of them while the difference is small', async () => {
    const kit = await openPool(roomy);
    await answered(kit, 1400);
    expect((await picks(kit, 4)).toSorted()).to.deep.equal(['a', 'a', 'b', 'b']);
  });

  it('is tried again after a while', async () => {
    const kit = await openPool(roomy);
    await answered(kit, 4000);
    expect(await picks(kit, 1)).to.deep.equal(['b']);
    kit.clock.pass(60_000);
    const one = await kit.pool.lease(leaseRequest());
    one.answered({}, 1000);
    one.release();
    expect(await picks(kit, 4)).to.include('a');
  });

  it('is not slow for one late answer among many', async () => {
    const kit = await openPool(roomy);
    for (let at = 0; at < 5; at += 1) await answered(kit, 1000);
    await answered(kit, 60_000);
    expect((await picks(kit, 4)).toSorted()).to.deep.equal(['a', 'a', 'b', 'b']);
  });

  it('is weighed by a first token that never came in time, and left by the session bound to it', async () => {
    const kit = await openPool(two);
    const late = new GatewayError('upstream_timeout', 'late', {
      failure: { kind: 'timeout', waitedFor: 'content', afterMs: 60_000 },
    });
    const other = await (await bound(kit)).another(late);
    expect(other?.slot.id).to.equal('b');
    other?.answered({}, 900);
    other?.release();
    expect((await kit.pool.lease(sticky('s'))).slot.id).to.equal('b');
    expect(kit.pool.list()[0]).to.include({ state: 'ready' });
  });

  it('keeps a session that another kind of failure has sent elsewhere', async () => {
    const kit = await openPool(two);
    const other = await (await bound(kit)).another(failure('timeout'));
    other?.answered({});
    other?.release();
    expect((await kit.pool.lease(sticky('s'))).slot.id).to.equal('a');
  });
});

describe('a way out that fails', () => {
  const proxy = 'http://egress-1:3128';
  const three = [slotConfig('a', { proxy }), slotConfig('b', { proxy }), slotConfig('c')];

  it('puts the slots that share it last, without a cooldown for the others', async () => {
    const kit = await openPool(three);
    const first = await kit.pool.lease(leaseRequest());
    const second = await first.another(unreachable());
    expect([first.slot.id, second?.slot.id]).to.deep.equal(['a', 'c']);
    expect(kit.pool.list().map(({ state }) => state)).to.deep.equal(['cooling', 'ready', 'ready']);
    expect((await kit.pool.lease(leaseRequest())).slot.id, 'c is full after it').to.equal('c');
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('b');
  });

  it('is left by bound sessions while another slot has room, and they return', async () => {
    const kit = await openPool([slotConfig('b', { proxy }), slotConfig('c'), slotConfig('a', { proxy })]);
    const mine = await kit.pool.lease(sticky('s'));
    mine.answered({});
    mine.release();
    expect(mine.slot.id).to.equal('b');
    const last = leaseRequest({ policy: (candidates) => candidates.at(-1)! });
    (await kit.pool.lease(last)).failed(unreachable());
    const away = await kit.pool.lease(sticky('s'));
    expect(away.slot.id).to.equal('c');
    away.answered({});
    away.release();
    kit.clock.pass(2000);
    expect((await kit.pool.lease(sticky('s'))).slot.id).to.equal('b');
  });

  it('works again once a call has gone through', async () => {
    const kit = await openPool([slotConfig('a', { proxy }), slotConfig('b', { proxy })]);
    const second = await (await kit.pool.lease(leaseRequest())).another(unreachable());
    second?.answered({});
    second?.release();
    kit.pool.resume('a');
    const ids = await Promise.all([1, 2].map(async () => (await kit.pool.lease(leaseRequest())).slot.id));
    expect(ids.toSorted()).to.deep.equal(['a', 'b']);
  });

  it('is no matter of a connection that had served before, nor of an answer', async () => {
    const kit = await openPool(three);
    const first = await kit.pool.lease(leaseRequest());
    const again = await first.another(unreachable(true));
    expect((await again?.another(failure('empty')))?.slot.id).to.equal('b');
  });
});
