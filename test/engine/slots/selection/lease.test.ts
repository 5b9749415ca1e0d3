import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import {
  failure,
  leaseRequest,
  openPool,
  rejection,
  refusal,
  settled,
  slotConfig,
  sticky,
  type Kit,
} from '../kit.js';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';

const sonnet = { model: 'sonnet-5', messages: [] };
const first = builtinPolicies['priority']!();

describe('a lease', () => {
  it('holds a place until it is released, once', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lease = await kit.pool.lease(leaseRequest());
    expect(inFlight(kit)).to.deep.equal([1]);
    lease.release();
    lease.release();
    expect(inFlight(kit)).to.deep.equal([0]);
  });

  it('goes to the slot that the policy picks among those with room', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
    const offered: string[][] = [];
    const request = leaseRequest({
      policy: (candidates) => {
        offered.push(candidates.map(({ id }) => id));
        return candidates[0]!;
      },
    });
    const slots = [await kit.pool.lease(request), await kit.pool.lease(request)].map(({ slot }) => slot.id);
    expect(slots).to.deep.equal(['a', 'b']);
    expect(offered).to.deep.equal([['a', 'b'], ['b']]);
  });

  it('fails alone where its policy picks a slot that it was not offered', async () => {
    const { pool } = await openPool([slotConfig('a')]);
    const error = await rejection(pool.lease(leaseRequest({ policy: ([one]) => ({ ...one!, id: 'zzz' }) })));
    expect(error.message).to.include('"zzz"');
  });

  describe('of a model', () => {
    it('goes only to slots whose globs match the catalog id', async () => {
      const { pool } = await openPool([
        slotConfig('a', { models: ['haiku-*'] }),
        slotConfig('b', { models: ['sonnet-*'] }),
      ]);
      expect((await pool.lease(leaseRequest({ model: 'sonnet-5' }))).slot.id).to.equal('b');
      expect((await pool.lease(leaseRequest({ model: 'haiku-5' }))).slot.id).to.equal('a');
    });

    it('that the catalog lacks goes only to slots that take every model', async () => {
      const { pool } = await openPool([slotConfig('a', { models: ['new-*'] }), slotConfig('b')]);
      expect((await pool.lease(leaseRequest({ model: 'new-model' }))).slot.id).to.equal('b');
    });

    it('that no slot serves is not found', async () => {
      const { pool } = await openPool([slotConfig('a', { models: ['haiku-*', 'new-*'] })]);
      for (const model of ['sonnet-5', 'new-model']) {
        const error = await rejection(pool.lease(leaseRequest({ model })));
        expect(error).to.include({ code: 'model_not_found', status: 404 });
        expect(error.message).to.include(`"${model}"`);
      }
    });
  });

  describe('where all slots are full', () => {
    it('is waited for, first come, first served', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      const held = await kit.pool.lease(leaseRequest());
      const order: number[] = [];
      const waiting = [1, 2].map(async (number) => {
        const lease = await kit.pool.lease(leaseRequest());
        order.push(number);
        return lease;
      });
      await settled();
      expect(queued(kit)).to.deep.equal([2]);
      held.release();
      (await waiting[0]!).release();
      (await waiting[1]!).release();
      expect(order).to.deep.equal([1, 2]);
      expect(inFlight(kit)).to.deep.equal([0]);
    });

    it('is refused when the queue timeout is over', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      await kit.pool.lease(leaseRequest());
      const waiting = rejection(kit.pool.lease(leaseRequest({ queueTimeoutMs: 5000 })));
      await settled();
      kit.clock.pass(4999);
      expect(queued(kit)).to.deep.equal([1]);
      kit.clock.pass(1);
      const error = await waiting;
      expect(error).to.include({ code: 'no_slot_available', status: 503 });
      expect(error.message).to.include('within 5 s');
      expect(queued(kit)).to.deep.equal([0]);
    });

    it('is refused at once where ten times as many wait already', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      await kit.pool.lease(leaseRequest());
      const waiting = Array.from({ length: 10 }, () => rejection(kit.pool.lease(leaseRequest())));
      await settled();
      const error = await rejection(kit.pool.lease(leaseRequest()));
      expect(error).to.include({ code: 'no_slot_available', status: 503 });
      expect(error.headers).to.deep.equal({ 'retry-after': '1' });
      kit.clock.pass(30_000);
      expect(await Promise.all(waiting)).to.have.length(10);
    });

    it('is given up at once when the caller leaves', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      await kit.pool.lease(leaseRequest());
      const caller = new AbortController();
      const waiting = rejection(kit.pool.lease(leaseRequest({ signal: caller.signal })));
      await settled();
      caller.abort(new Error('gone'));
      expect(queued(kit)).to.deep.equal([0]);
      expect((await waiting).message).to.equal('gone');
      expect(getEventListeners(caller.signal, 'abort')).to.deep.equal([]);
    });

    it('is had as soon as a cooldown ends, without anyone giving a place back', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
      const first = await kit.pool.lease(leaseRequest());
      const second = await kit.pool.lease(leaseRequest());
      expect([first.slot.id, second.slot.id]).to.deep.equal(['a', 'b']);
      expect(await second.another(refusal(413))).to.equal(undefined);
      const third = await kit.pool.lease(leaseRequest());
      const waiting = third.another(refusal(429, { 'retry-after': '3' })); // b cools; a is full
      const fourth = kit.pool.lease(leaseRequest());
      await settled();
      expect(queued(kit)).to.deep.equal([2, 0]);
      kit.clock.pass(3000);
      expect((await fourth).slot.id).to.equal('b');
      first.release();
      expect((await waiting)?.slot.id).to.equal('a');
    });

    it('is had as soon as a success shows that a slot has cooled down', async () => {
      const kit = await openPool([slotConfig('a'), slotConfig('b', { maxConcurrent: 1 })]);
      const first = await kit.pool.lease(leaseRequest());
      const second = await first.another(refusal(429));
      kit.pool.pause('b');
      const third = await kit.pool.lease(leaseRequest());
      kit.pool.resume('b');
      expect([second?.slot.id, third.slot.id]).to.deep.equal(['b', 'a']);
      const waiting = kit.pool.lease(leaseRequest());
      await settled();
      expect(queued(kit)).to.deep.equal([0, 1]);
      third.answered({});
      expect((await waiting).slot.id).to.equal('a');
    });

    it('is had as soon as a reload makes room', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      await kit.pool.lease(leaseRequest());
      const waiting = kit.pool.lease(leaseRequest());
      await settled();
      await kit.pool.reload([slotConfig('a', { maxConcurrent: 2 })]);
      expect((await waiting).slot.id).to.equal('a');
      expect(inFlight(kit)).to.deep.equal([2]);
    });
  });

  describe('whose caller leaves', () => {
    it('is released', async () => {
      const kit = await openPool([slotConfig('a')]);
      const caller = new AbortController();
      const lease = await kit.pool.lease(leaseRequest({ signal: caller.signal }));
      caller.abort();
      expect(inFlight(kit)).to.deep.equal([0]);
      expect(await lease.another(refusal(529))).to.equal(undefined);
      expect(kit.pool.list()[0]?.models).to.deep.equal([]);
    });

    it('is not had by a caller who left before', async () => {
      const kit = await openPool([slotConfig('a')]);
      const error = await rejection(
        kit.pool.lease(leaseRequest({ signal: AbortSignal.abort(new Error('gone')) })),
      );
      expect(error.message).to.equal('gone');
      expect(inFlight(kit)).to.deep.equal([0]);
    });

    it('is not had twice where one caller holds a place and waits for another', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      const caller = new AbortController();
      const picker = kit.pool.picker(leaseRequest({ signal: caller.signal }));
      await picker.lease(sonnet);
      const waiting = rejection(picker.lease(sonnet));
      await settled();
      caller.abort(new Error('gone'));
      expect((await waiting).message).to.equal('gone');
      expect(inFlight(kit)).to.deep.equal([0]);
    });

    it('leaves no listener behind when it is released', async () => {
      const { pool } = await openPool([slotConfig('a')]);
      const caller = new AbortController();
      (await pool.lease(leaseRequest({ signal: caller.signal }))).release();
      expect(getEventListeners(caller.signal, 'abort')).to.deep.equal([]);
    });
  });

  describe('for a further call', () => {
    it('is one in the same slot where that has room, else in another', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 2 }), slotConfig('b')]);
      const picker = kit.pool.picker(leaseRequest());
      const leases = await Promise.all([1, 2, 3].map(() => picker.lease(sonnet)));
      expect(leases.map(({ slot }) => slot.id)).to.deep.equal(['a', 'a', 'b']);
      expect(inFlight(kit)).to.deep.equal([2, 1]);
    });

    it('can be had when the first one has been given back', async () => {
      const kit = await openPool([slotConfig('a')]);
      const picker = kit.pool.picker(leaseRequest());
      (await picker.lease(sonnet)).release();
      expect((await picker.lease(sonnet)).slot.id).to.equal('a');
      expect(inFlight(kit)).to.deep.equal([1]);
    });

    it('is one that serves its model', async () => {
      const kit = await openPool([
        slotConfig('a', { models: ['sonnet-*'] }),
        slotConfig('b', { models: ['haiku-*'] }),
      ]);
      const picker = kit.pool.picker(sticky('s'));
      const ids = [];
      for (const model of ['sonnet-5', 'haiku-5', 'sonnet-5'])
        ids.push((await picker.lease({ model, messages: [] })).slot.id);
      expect(ids).to.deep.equal(['a', 'b', 'a']);
    });

    it('is in the slot that has refused the first one for what it asked, not in one that has failed it', async () => {
      const kit = await openPool([slotConfig('a'), slotConfig('b'), slotConfig('c')]);
      const refused = kit.pool.picker(leaseRequest({ policy: first }));
      (await refused.lease(sonnet)).failed(refusal(400));
      expect((await refused.lease(sonnet)).slot.id).to.equal('a');
      const failed = kit.pool.picker(leaseRequest({ policy: first }));
      (await failed.lease(sonnet)).failed(failure('empty'));
      expect((await failed.lease(sonnet)).slot.id).to.equal('b');
    });

    it('is in a slot that has failed where there is no other', async () => {
      const kit = await openPool([slotConfig('a')]);
      const picker = kit.pool.picker(leaseRequest());
      (await picker.lease(sonnet)).failed(refusal(529));
      expect((await picker.lease(sonnet)).slot.id).to.equal('a');
    });

    it('is refused with the one that it waits for, and asked for anew after that', async () => {
      const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
      const other = await kit.pool.lease(leaseRequest());
      const picker = kit.pool.picker(leaseRequest());
      const waiting = [1, 2].map(() => rejection(picker.lease(sonnet)));
      await settled();
      kit.clock.pass(30_000);
      expect((await Promise.all(waiting)).map(({ code }) => code)).to.deep.equal(
        Array.from({ length: 2 }, () => 'no_slot_available'),
      );
      other.release();
      expect((await picker.lease(sonnet)).slot.id).to.equal('a');
    });
  });

  it('is refused to those who wait, and to those who come, when the pool closes', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 })]);
    await kit.pool.lease(leaseRequest());
    const waiting = rejection(kit.pool.lease(leaseRequest()));
    await settled();
    await kit.pool.close();
    expect(await waiting).to.include({ code: 'shutting_down' });
    expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ code: 'shutting_down' });
    expect(kit.upstream('a').isClosed).to.equal(true);
    expect(kit.clock.timers).to.equal(0);
  });
});

function inFlight({ pool }: Kit): readonly number[] {
  return pool.list().map((slot) => slot.inFlight);
}

function queued({ pool }: Kit): readonly number[] {
  return pool.list().map((slot) => slot.queued);
}
