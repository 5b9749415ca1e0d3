import { expect } from 'chai';
import type { GatewayError } from '#src/plugin/index.js';
import type { SlotStatus } from '#src/plugin/contract/slot/slot.js';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';
import { calm, openInstances, slowly, type Instances } from './instances.js';
import {
  leaseRequest,
  modelsOf,
  refusal,
  rejection,
  slotConfig,
  stateOf,
  unreachable,
  type Kit,
} from './kit.js';

for (const [how, connect] of [
  ['at once', undefined],
  ['a little later', slowly],
] as const) {
  describe(`the state of a slot that other instances hear of ${how}`, () => {
    const slots = [slotConfig('a', { maxConcurrent: 9 }), slotConfig('b', { models: ['haiku-*'] })];
    const open = (config = slots): Promise<Instances> => openInstances(config, connect ? { connect } : {});

    it('is cooling in all of them, for the whole account or one model, with its reason and end', async () => {
      const { kits } = await open();
      const [one, two] = kits as [Kit, Kit];
      await fail(one, refusal(429, { 'retry-after': '7' }));
      await fail(one, unreachable());
      await calm();
      expect(modelsOf(two, 'a')).to.deep.equal([
        { model: 'up-sonnet-5', reason: 'rate_limited', forMs: 7000 },
      ]);
      expect(stateOf(two, 'a')).to.deep.equal({ state: 'cooling', reason: 'unreachable', forMs: 2000 });
    });

    it('doubles its cooldown over all of them, and starts over after a success in any', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      await fail(one, refusal(529));
      await calm();
      clock.pass(5000);
      await fail(two, refusal(529));
      await calm();
      expect(modelsOf(one, 'a')).to.have.nested.property('[0].forMs', 10_000);
      clock.pass(10_000);
      await succeed(one);
      await calm();
      await fail(two, refusal(529));
      await calm();
      expect(modelsOf(one, 'a')).to.have.nested.property('[0].forMs', 5000);
    });

    it('is asked by one request a minute of all of them where its provider has named a longer wait', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      await fail(one, refusal(429, { 'retry-after': '3600' }));
      await calm();
      clock.pass(59_999);
      for (const { pool } of kits)
        expect(await rejection(pool.lease(leaseRequest()))).to.include({ code: 'rate_limited', status: 429 });
      clock.pass(1);
      const asked = await one.pool.lease(leaseRequest());
      await calm();
      for (const { pool } of kits)
        expect((await rejection(pool.lease(leaseRequest()))).headers['retry-after']).to.equal('3540');
      asked.answered({});
      await calm();
      (await two.pool.lease(leaseRequest())).release();
    });

    it('is not undone by a call that began before: neither its success nor its failure counts', async () => {
      const { kits } = await open();
      const [one, two] = kits as [Kit, Kit];
      const [early, other] = [await two.pool.lease(leaseRequest()), await two.pool.lease(leaseRequest())];
      await fail(one, refusal(529));
      await calm();
      early.answered({});
      other.failed(refusal(529));
      await calm();
      for (const kit of kits) expect(modelsOf(kit, 'a')).to.have.nested.property('[0].forMs', 5000);
    });

    it('is rejected in all of them, and accepted when one has been let in', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      await fail(one, refusal(401));
      await calm();
      expect(stateOf(two, 'a')).to.include({ state: 'rejected' });
      expect(two.pool.list()[0]).to.include({ lastError: 'status 401' });
      clock.pass(300_000);
      await calm();
      expect(one.upstream('a').calls.length + two.upstream('a').calls.length).to.equal(1);
      for (const kit of kits) expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
    });

    it('is probed by one instance at a time, and by another one when that has gone', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      for (const kit of kits) refuse(kit.upstream('a'));
      await fail(one, refusal(401));
      await calm();
      for (let times = 1; times <= 4; times += 1) {
        clock.pass(300_000);
        await calm();
        expect(one.upstream('a').calls.length + two.upstream('a').calls.length).to.equal(times);
      }
      await one.pool.close();
      const before = two.upstream('a').calls.length;
      clock.pass(600_000);
      await calm();
      expect(two.upstream('a').calls.length).to.be.greaterThan(before);
    });

    it('is not rejected again by a call that began before it was accepted', async () => {
      const { kits } = await open();
      const [one, two] = kits as [Kit, Kit];
      const early = await two.pool.lease(leaseRequest());
      await fail(one, refusal(401));
      await calm();
      one.pool.resume('a');
      await calm();
      early.failed(refusal(401));
      await calm();
      for (const kit of kits) expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
    });

    it('is paused and drained by the operator of any, and resumed from whatever it was', async () => {
      const { kits } = await open();
      const [one, two] = kits as [Kit, Kit];
      one.pool.pause('a');
      two.pool.drain('b');
      await calm();
      for (const { pool } of kits)
        expect(pool.list().map(({ state }) => state)).to.deep.equal(['paused', 'draining']);
      two.pool.resume('a');
      one.pool.resume('b');
      await calm();
      await fail(one, unreachable());
      await calm();
      two.pool.resume('a');
      await calm();
      for (const { pool } of kits) expect(pool.schedulable).to.equal(2);
    });

    it('lets those wait no longer who wait for what another instance has made ready', async () => {
      const { kits } = await open([slotConfig('a', { maxConcurrent: 1 }), slotConfig('c')]);
      const [one, two] = kits as [Kit, Kit];
      one.pool.pause('c');
      await calm();
      await two.pool.lease(leaseRequest());
      const waiting = two.pool.lease(leaseRequest());
      await calm();
      one.pool.resume('c');
      expect((await waiting).slot.id).to.equal('c');
    });

    it('has its usage windows and last error from whichever instance saw them last', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      for (const [kit, used] of [
        [one, '0.1'],
        [two, '0.2'],
        [two, '0.3'],
        [one, '0.4'],
      ] as const) {
        const lease = await kit.pool.lease(leaseRequest());
        lease.answered(window(used));
        lease.failed(refusal(500 + Number(used) * 10));
        await calm();
        clock.pass(10);
      }
      clock.pass(100);
      await calm();
      for (const kit of kits) {
        expect(statusOf(kit, 'a').windows['5h']?.percentUsed).to.equal(40);
        expect(statusOf(kit, 'a').lastError).to.equal('status 504');
      }
    });

    it('is known to an instance that starts later', async () => {
      const { kits, clock, join } = await open();
      const [one] = kits as [Kit, Kit];
      await fail(one, refusal(529));
      await fail(one, refusal(401));
      one.pool.drain('b');
      const lease = await one.pool.lease(leaseRequest({ model: 'haiku-5' })).catch(() => undefined);
      expect(lease).to.equal(undefined);
      clock.pass(100);
      await calm();
      const late = await join();
      expect(late.pool.list()).to.deep.equal(one.pool.list());
    });

    it('stays by id across a reload, and starts over with another account, whatever the others still say of the old one', async () => {
      const { kits } = await open();
      const [one, two] = kits as [Kit, Kit];
      await fail(one, unreachable());
      one.pool.pause('b');
      await calm();
      await two.pool.reload(slots.map((slot) => ({ ...slot, weight: 3 })));
      expect(stateOf(two, 'a')).to.include({ state: 'cooling' });
      const account = { kind: 'api-key', key: 'another', header: 'x-api-key' } as const;
      await two.pool.reload(slots.map((slot) => ({ ...slot, account })));
      expect(two.pool.list().map(({ state }) => state)).to.deep.equal(['ready', 'paused']);
      await fail(one, refusal(401));
      await calm();
      expect(stateOf(two, 'a')).to.include({ state: 'ready' });
      expect(stateOf(one, 'a')).to.include({ state: 'rejected' });
      await one.pool.reload(slots.map((slot) => ({ ...slot, account })));
      expect(stateOf(one, 'a')).to.include({ state: 'ready' });
      one.pool.pause('a');
      await calm();
      expect(stateOf(two, 'a')).to.include({ state: 'paused' });
    });
  });
}

describe('what instances share about slots', () => {
  it('holds no secret, and nothing of an account or a slot that all have left', async () => {
    const { kits, hub } = await openInstances([slotConfig('a'), slotConfig('b')]);
    const { shared } = hub.connect();
    for (const kit of kits) await fail(kit, refusal(529));
    kits[0]!.pool.pause('b');
    expect(shared.entries('').length).to.be.greaterThan(2);
    expect(JSON.stringify(shared.entries(''))).to.not.include('key-of-a');
    for (const { pool } of kits) await pool.reload([]);
    expect(shared.entries('')).to.deep.equal([]);
  });
});

async function fail({ pool }: Kit, error: GatewayError): Promise<void> {
  const lease = await pool.lease(leaseRequest());
  lease.failed(error);
}

async function succeed({ pool }: Kit): Promise<void> {
  const lease = await pool.lease(leaseRequest({ policy: builtinPolicies['priority']!() }));
  lease.answered({});
  lease.release();
}

function refuse(upstream: ReturnType<Kit['upstream']>): void {
  upstream.countTokens = async (call) => {
    upstream.calls.push(call);
    throw refusal(401);
  };
}

function window(used: string): Readonly<Record<string, string>> {
  return {
    'anthropic-ratelimit-unified-5h-utilization': used,
    'anthropic-ratelimit-unified-5h-reset': '1900000000',
  };
}

function statusOf({ pool }: Kit, id: string): SlotStatus {
  return pool.list().find((slot) => slot.id === id)!;
}
