import { expect } from 'chai';
import type { LeaseRequest } from '#src/plugin/contract/slot/slots.js';
import type { PickPolicy } from '#src/plugin/index.js';
import type { Binding } from '#src/state/store/contract/store.js';
import { calm, openInstances, slowly, type Instances } from './instances.js';
import { sticky, slotConfig, type Kit } from './kit.js';

const first: PickPolicy = (candidates) => candidates[0]!;
const last: PickPolicy = (candidates) => candidates.at(-1)!;

for (const [how, connect] of [
  ['at once', undefined],
  ['a little later', slowly],
] as const) {
  describe(`a sticky key of which other instances hear ${how}`, () => {
    const open = (): Promise<Instances> =>
      openInstances([slotConfig('a'), slotConfig('b')], connect ? { connect } : {});

    it('goes to the same slot in whichever instance it comes', async () => {
      const { kits } = await open();
      for (let session = 0; session < 20; session += 1) {
        const slots = [];
        for (let call = 0; call < 6; call += 1) {
          const policy = call % 2 === 0 ? first : last;
          slots.push(await answer(kits[(session + call) % 2]!, sticky(`s${session}`, { policy })));
          await calm(4);
        }
        expect(new Set(slots).size).to.equal(1);
      }
    });

    it('is known to the others before the store has it', async () => {
      const { kits, store } = await open();
      const [one, two] = kits as [Kit, Kit];
      const write = holdBack(store.bindings);
      expect(await answer(one, sticky('s', { policy: last }))).to.equal('b');
      await calm();
      expect(await answer(two, sticky('s', { policy: first }))).to.equal('b');
      write();
    });

    it('moves for all where its slot is not schedulable, and stays where it has moved', async () => {
      const { kits, store } = await open();
      const [one, two] = kits as [Kit, Kit];
      for (const kit of kits) expect(await answer(kit, sticky('s', { policy: first }))).to.equal('a');
      one.pool.pause('a');
      await calm();
      expect(await answer(one, sticky('s', { policy: first }))).to.equal('b');
      one.pool.resume('a');
      await calm();
      expect(await answer(two, sticky('s', { policy: first }))).to.equal('b');
      expect(await store.bindings.get('s')).to.include({ slotId: 'b' });
    });

    it('is on one slot in the end where two first calls are answered at the same time, in the store too', async () => {
      for (const order of [
        [0, 1],
        [1, 0],
      ] as const) {
        const { kits, store } = await open();
        const leases = await Promise.all(
          kits.map(({ pool }, at) => pool.lease(sticky('s', { policy: at === 0 ? first : last }))),
        );
        for (const at of order) leases[at]!.answered({});
        for (const lease of leases) lease.release();
        await calm(40);
        const slots = await Promise.all(
          kits.map((kit, at) => answer(kit, sticky('s', { policy: at === 0 ? first : last }))),
        );
        expect(new Set(slots).size).to.equal(1);
        expect(await store.bindings.get('s')).to.include({ slotId: slots[0] });
      }
    });

    it('is forgotten only when its time is over since its last use in any of them', async () => {
      const { kits, clock } = await open();
      const [one, two] = kits as [Kit, Kit];
      const ttl = (ttlMs: number, policy: PickPolicy) => ({ sticky: { key: 's', ttlMs }, policy });
      expect(await answer(one, { ...sticky('s'), ...ttl(600_000, first) })).to.equal('a');
      await calm();
      for (let times = 0; times < 5; times += 1) {
        clock.pass(400_000);
        expect(await answer(two, { ...sticky('s'), ...ttl(600_000, last) })).to.equal('a');
        await calm();
      }
      clock.pass(400_000);
      expect(await answer(one, { ...sticky('s'), ...ttl(600_000, last) })).to.equal('a');
    });
  });
}

describe('a sticky key', () => {
  it('is read from the store again by an instance that has missed a message', async () => {
    const { hub, kits, join, clock } = await openInstances([slotConfig('a'), slotConfig('b')], { count: 1 });
    const deaf = hub.connect();
    const two = await join({
      live: { ...deaf, messages: { send: () => undefined, receive: () => () => undefined } },
    });
    const one = kits[0]!;
    expect(await answer(two, sticky('s', { policy: first }))).to.equal('a');
    await calm();
    clock.pass(60_000);
    expect(await answer(one, sticky('s'))).to.equal('a');
    one.pool.pause('a');
    expect(await answer(one, sticky('s'))).to.equal('b');
    one.pool.resume('a');
    await calm();
    clock.pass(60_000);
    await answer(two, sticky('s')); // has it checked
    await calm();
    expect(await answer(two, sticky('s'))).to.equal('b');
  });

  it('is waited for no longer than a moment where the store does not answer', async () => {
    const { kits, store, clock } = await openInstances([slotConfig('a')], { count: 1 });
    store.bindings.get = () => new Promise(() => undefined);
    for (let times = 0; times < 2; times += 1) {
      const answered = answer(kits[0]!, sticky('s'));
      await calm();
      clock.pass(300);
      expect(await answered).to.equal('a');
    }
  });

  it('costs the store a write for each tenth of its time to live at most', async () => {
    const { kits, store, clock } = await openInstances([slotConfig('a')]);
    const puts: Binding[] = [];
    const put = store.bindings.put.bind(store.bindings);
    store.bindings.put = async (key, binding) => {
      puts.push(binding);
      await put(key, binding);
    };
    for (let times = 0; times < 100; times += 1) {
      await answer(kits[times % 2]!, sticky('s'));
      await calm(2);
      clock.pass(36_000);
    }
    expect(puts.length).to.be.at.most(21);
  });
});

async function answer({ pool }: Kit, request: LeaseRequest): Promise<string> {
  const lease = await pool.lease(request);
  lease.answered({});
  lease.release();
  return lease.slot.id;
}

/** Writes wait until what it gives is called. */
function holdBack(bindings: Instances['store']['bindings']): () => void {
  const put = bindings.put.bind(bindings);
  let write: () => void = () => undefined;
  const isWritten = new Promise<void>((resolve) => (write = resolve));
  bindings.put = async (key, binding) => {
    await isWritten;
    await put(key, binding);
  };
  return write;
}
