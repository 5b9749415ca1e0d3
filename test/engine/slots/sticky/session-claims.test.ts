import { expect } from 'chai';
import type { Live } from '#src/plugin/contract/live.js';
import type { SlotLease } from '#src/plugin/index.js';
import type { MemoryHub } from '#src/state/live/memory/hub.js';
import { calm, openInstances, slowly } from '../instances.js';
import { failure, openPool, slotConfig, sticky, unreachable, type Kit } from '../kit.js';

const slots = ['a', 'b', 'c', 'd'].map((id) => slotConfig(id, { maxConcurrent: 100 }));

/** Starts three calls of each of 25 sessions at once, spread over pools; gives how many sessions are in more than one slot. */
async function countSplit(kits: readonly Kit[]): Promise<number> {
  const calls: Promise<readonly [session: string, lease: SlotLease]>[] = [];
  for (let call = 0; call < 3; call += 1)
    for (let session = 0; session < 25; session += 1) {
      const { pool } = kits[(call + session) % kits.length]!;
      calls.push(pool.lease(sticky(`k:${session}`)).then((lease) => [String(session), lease] as const));
    }
  const slotsOf = new Map<string, Set<string>>();
  for (const [session, lease] of await Promise.all(calls)) {
    slotsOf.set(session, (slotsOf.get(session) ?? new Set()).add(lease.slot.id));
    lease.answered({});
    lease.release();
  }
  expect(new Set([...slotsOf.values()].flatMap((ids) => [...ids])).size, 'slots in use').to.equal(4);
  return [...slotsOf.values()].filter(({ size }) => size > 1).length;
}

describe('the first calls of sessions, made in parallel', () => {
  it('go to one slot for each session', async () => {
    const kit = await openPool(slots);
    expect(await countSplit([kit])).to.equal(0);
    await kit.pool.close();
  });

  const connections: readonly (readonly [how: string, connect: (hub: MemoryHub) => Live])[] = [
    ['at once', (hub) => hub.connect()],
    ['a little later', slowly],
  ];
  for (const [how, connect] of connections)
    it(`do so over instances that hear of each other ${how}`, async () => {
      const { kits } = await openInstances(slots, { connect });
      expect(await countSplit(kits)).to.equal(0);
      for (const { pool } of kits) await pool.close();
    });

  it('share no claim with sessions of other keys', async () => {
    const kit = await openPool(slots);
    const [one, two] = await Promise.all(['k1:s', 'k2:s'].map((key) => kit.pool.lease(sticky(key))));
    expect(one!.slot.id).not.to.equal(two!.slot.id);
    await kit.pool.close();
  });

  for (const [what, end] of [
    ['fails', (lease: SlotLease) => lease.failed(failure('timeout'))],
    ['is left', (lease: SlotLease) => lease.release()],
  ] as const)
    it(`leave no claim where the only one ${what}`, async () => {
      const { kits } = await openInstances(slots);
      const [one, two] = kits;
      const first = await one!.pool.lease(sticky('k:s'));
      const second = await two!.pool.lease(sticky('k:s'));
      expect(second.slot.id).to.equal(first.slot.id);
      end(first);
      end(second);
      const busy = await one!.pool.lease(sticky('k:other'));
      await two!.pool.lease(sticky('k:further'));
      const next = await two!.pool.lease(sticky('k:s'));
      expect(next.slot.id).not.to.equal(first.slot.id);
      busy.release();
      for (const { pool } of kits) await pool.close();
    });

  it('go elsewhere where the claimed slot cannot be asked', async () => {
    const kit = await openPool(slots);
    const first = await kit.pool.lease(sticky('k:s'));
    const moved = await first.another(unreachable());
    expect(moved!.slot.id).not.to.equal(first.slot.id);
    const next = await kit.pool.lease(sticky('k:s'));
    expect(next.slot.id).to.equal(moved!.slot.id);
    await kit.pool.close();
  });

  it('replace a claim that an instance has left behind on a slot that is closed', async () => {
    const { kits } = await openInstances(slots);
    const [one, two] = kits;
    const first = await one!.pool.lease(sticky('k:s'));
    two!.pool.pause(first.slot.id);
    await calm();
    const next = await two!.pool.lease(sticky('k:s'));
    const third = await two!.pool.lease(sticky('k:s'));
    expect(next.slot.id).not.to.equal(first.slot.id);
    expect(third.slot.id).to.equal(next.slot.id);
    for (const { pool } of kits) await pool.close();
  });
});
