import { expect } from 'chai';
import type { SlotLease } from '@gw2api/gateway/plugin';
import { builtinPolicies } from '#src/engine/slots/selection/policies.js';
import { calm, openInstances, slowly, type Instances } from './instances.js';
import { leaseRequest, rejection, slotConfig, sticky, type Kit } from './kit.js';

for (const [how, connect] of [
  ['that are granted at once', undefined],
  ['that have to be asked for', slowly],
] as const) {
  describe(`the places of a slot over several instances, ${how}`, () => {
    const one = [slotConfig('a', { maxConcurrent: 2 })];
    const open = (config = one, count = 2): Promise<Instances> =>
      openInstances(config, { count, ...(connect && { connect }) });

    it('are taken up to the limit by all instances together, and shown by each', async () => {
      const { kits } = await open(one, 3);
      for (const { pool } of kits) pool.lease(leaseRequest()).catch(() => undefined);
      await calm();
      const counts = kits.map(({ pool }) => pool.list()[0]!);
      expect(counts.map(({ inFlight }) => inFlight)).to.deep.equal([2, 2, 2]);
      expect(counts.reduce((sum, { queued }) => sum + queued, 0)).to.equal(1);
    });

    it('go to the other slot where the first is full elsewhere', async () => {
      const { kits } = await open([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
      const policy = builtinPolicies['priority']!();
      const leases = await Promise.all(kits.map(({ pool }) => pool.lease(leaseRequest({ policy }))));
      expect(leases.map(({ slot }) => slot.id).toSorted()).to.deep.equal(['a', 'b']);
    });

    it('are picked by what all instances hold', async () => {
      const wide = ['a', 'b'].map((id) => slotConfig(id, { maxConcurrent: 100 }));
      const { kits } = await open(wide);
      const held = [];
      for (let times = 0; times < 20; times += 1) {
        held.push(await kits[times < 10 ? 0 : 1]!.pool.lease(leaseRequest()));
        await calm(4);
      }
      expect(held.filter(({ slot }) => slot.id === 'a')).to.have.length(10);
    });

    it('wake those who wait, when another instance gives one back', async () => {
      const { kits } = await open();
      const [here, there] = kits as [Kit, Kit];
      const held = [await here.pool.lease(leaseRequest()), await here.pool.lease(leaseRequest())];
      const waiting = there.pool.lease(leaseRequest());
      await calm();
      held[0]!.release();
      expect((await waiting).slot.id).to.equal('a');
    });

    it('go to those who wait in the order in which they came, within an instance', async () => {
      const { kits } = await open([slotConfig('a', { maxConcurrent: 1 })]);
      const [here, there] = kits as [Kit, Kit];
      let held: SlotLease = await here.pool.lease(leaseRequest());
      await calm();
      const order: number[] = [];
      const took: SlotLease[] = [];
      const waits = [0, 1, 2, 3].map(async (number) => {
        took.push(await there.pool.lease(leaseRequest()));
        order.push(number);
      });
      for (let times = 0; times < waits.length; times += 1) {
        held.release();
        await calm();
        held = took.at(-1)!;
      }
      await Promise.all(waits);
      expect(order).to.deep.equal([0, 1, 2, 3]);
    });

    it('are not kept from an instance by one that always has somebody waiting', async () => {
      const { kits, clock } = await open([slotConfig('a', { maxConcurrent: 1 })]);
      const [busy, other] = kits as [Kit, Kit];
      let served = 0;
      const serve = async (): Promise<void> => {
        const lease = await busy.pool.lease(leaseRequest());
        served += 1;
        void serve();
        await calm(3);
        lease.release();
      };
      void serve().catch(() => undefined);
      void serve().catch(() => undefined);
      await calm();
      const times: number[] = [];
      const wait = async (): Promise<void> => {
        const lease = await other.pool.lease(leaseRequest({ queueTimeoutMs: 60_000 }));
        times.push(served);
        lease.release();
      };
      void wait();
      for (let turn = 0; turn < 100 && times.length === 0; turn += 1) {
        await calm(10);
        clock.pass(10);
      }
      expect(times).to.have.length(1);
      expect(served).to.be.lessThan(200);
      await busy.pool.close();
    });

    it('are taken by those who came later where nobody comes for whom they were left', async () => {
      const { kits, clock } = await open([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
      const [here, there] = kits as [Kit, Kit];
      const held = await here.pool.lease(sticky('s'));
      held.answered({});
      await calm();
      const waits = there.pool.lease(sticky('s'));
      clock.pass(50);
      await calm();
      const later = here.pool.lease(sticky('s'));
      await there.pool.close();
      expect(await rejection(waits)).to.include({ code: 'shutting_down' });
      held.release();
      await calm();
      clock.pass(50);
      expect((await later).slot.id).to.equal('a');
    });

    it('are given back by a caller that leaves while they are asked for', async () => {
      const { kits, clock } = await open();
      const callers = Array.from({ length: 6 }, () => new AbortController());
      const asked = callers.map(({ signal }, at) =>
        rejection(
          kits[at % 2]!.pool.lease(leaseRequest({ signal })).then(async (lease) => {
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
            lease.release();
            throw new Error('gone');
          }),
        ),
      );
      for (const caller of callers) caller.abort(new Error('gone'));
      await Promise.all(asked);
      await calm();
      expect(kits.map(({ pool }) => pool.list()[0]!.inFlight)).to.deep.equal([0, 0]);
      for (const { pool } of kits) await pool.close();
      expect(clock.timers).to.equal(0);
    });

    it('are given back where the pool closes, or the slot is paused, while they are asked for', async () => {
      const { kits, hub } = await open();
      const [here, there] = kits as [Kit, Kit];
      const asked = here.pool.lease(leaseRequest({ queueTimeoutMs: 0 })).then(
        (lease) => lease.release(),
        () => undefined,
      );
      await calm(1);
      here.pool.pause('a');
      await asked;
      here.pool.resume('a');
      const closing = there.pool.lease(leaseRequest()).then(
        (lease) => lease.release(),
        () => undefined,
      );
      await calm(1);
      await there.pool.close();
      await closing;
      await calm();
      expect(hub.connect().permits.heldElsewhere('a')).to.equal(0);
    });

    it('are not refused for a wait of no time while they are asked for', async () => {
      const { kits } = await open();
      const lease = kits[0]!.pool.lease(leaseRequest({ queueTimeoutMs: 0 }));
      kits[0]!.clock.pass(0);
      expect((await lease).slot.id).to.equal('a');
    });

    it('outlast a slot that is taken away and comes back meanwhile', async () => {
      const { kits } = await open([slotConfig('a', { maxConcurrent: 1 })]);
      const [here, there] = kits as [Kit, Kit];
      const held = await here.pool.lease(leaseRequest());
      await here.pool.reload([]);
      await here.pool.reload([slotConfig('a', { maxConcurrent: 1 })]);
      expect(here.pool.list()[0]?.inFlight).to.equal(1);
      const waits = [here.pool.lease(leaseRequest()), there.pool.lease(leaseRequest())];
      await calm();
      held.release();
      (await Promise.race(waits)).release();
      await Promise.all(waits);
    });
  });
}
