import { expect } from 'chai';
import type { GatewayError, SlotLease } from '@gw2api/gateway/plugin';
import { calm, openInstances } from './instances.js';
import { leaseRequest, openPool, rejection, settled, slotConfig, type Kit } from './kit.js';

/** Requests of callers by name, in the order in which they get places. */
class Requests {
  readonly served: string[] = [];
  readonly refused: string[] = [];
  readonly #leases = new Map<string, SlotLease>();

  ask({ pool }: Kit, name: string): void {
    const [caller = ''] = name;
    const take = (lease: SlotLease): void => {
      this.served.push(name);
      this.#leases.set(name, lease);
    };
    pool
      .lease(leaseRequest({ caller: { kind: 'key', keyId: caller, name: caller } }))
      .then(take, (error: GatewayError) => void this.refused.push(`${name} ${error.code}`));
  }

  end(name: string): void {
    this.#leases.get(name)?.release();
  }
}

describe('callers who wait for places', () => {
  it('take turns, each with its own requests in the order in which they came', async () => {
    const kit = await openPool([slotConfig('s', { maxConcurrent: 1 })]);
    const requests = new Requests();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) {
      requests.ask(kit, name);
      await settled();
    }
    for (let served = 0; served < 7; served += 1) {
      expect(requests.served).to.have.length(served + 1);
      requests.end(requests.served[served]!);
      await settled();
    }
    expect(requests.served).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    await kit.pool.close();
  });

  it('keep nobody out of a full queue who has fewer requests in it', async () => {
    const kit = await openPool([slotConfig('s', { maxConcurrent: 1 })]);
    const requests = new Requests();
    for (let count = 0; count <= 10; count += 1) requests.ask(kit, `a${count}`);
    await settled();
    expect(kit.pool.list()[0]).to.include({ inFlight: 1, queued: 10 });
    requests.ask(kit, 'a11');
    await settled();
    expect(requests.refused).to.deep.equal(['a11 no_slot_available']);
    for (let count = 0; count < 6; count += 1) {
      requests.ask(kit, `b${count}`);
      await settled();
    }
    expect(kit.pool.list()[0]).to.include({ inFlight: 1, queued: 10 });
    const displaced = ['a10', 'a9', 'a8', 'a7', 'a6'].map((name) => `${name} no_slot_available`);
    expect(requests.refused).to.deep.equal(['a11 no_slot_available', ...displaced, 'b5 no_slot_available']);
    const alone = await rejection(
      kit.pool.lease(leaseRequest({ caller: { kind: 'key', keyId: 'a', name: 'a' } })),
    );
    expect(alone.headers).to.deep.equal({ 'retry-after': '1' });
    await kit.pool.close();
  });

  it('are served in turn wherever they wait', async () => {
    const { kits, clock } = await openInstances([slotConfig('s', { maxConcurrent: 1 })]);
    const [one, two] = kits;
    const requests = new Requests();
    for (let count = 0; count < 6; count += 1) {
      requests.ask(one!, `a${count}`);
      await calm();
      clock.pass(1);
    }
    requests.ask(two!, 'b0');
    clock.pass(60);
    await calm();
    for (let served = 0; !requests.served.includes('b0') && served < 6; served += 1) {
      requests.end(requests.served.at(-1)!);
      await calm();
      clock.pass(60);
      await calm();
    }
    expect(requests.served.indexOf('b0')).to.be.within(1, 2);
    for (const { pool } of kits) await pool.close();
  });
});
