import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import type { LeaseRequest } from '#src/plugin/contract/slot/slots.js';
import type { Binding } from '#src/state/store/contract/store.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import {
  failure,
  leaseRequest,
  openPool,
  refusal,
  settled,
  silent,
  slotConfig,
  sticky,
  type Kit,
} from './kit.js';
import { Bindings } from '#src/engine/slots/sticky/bindings.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';

const sonnet = { model: 'sonnet-5', messages: [] };

describe('a sticky key', () => {
  const two = [slotConfig('a'), slotConfig('b')];

  it('stays on the slot that has answered it', async () => {
    const kit = await openPool(two);
    const slots = [];
    for (let times = 0; times < 4; times += 1) slots.push(await answer(kit, sticky('s')));
    expect(new Set(slots).size).to.equal(1);
  });

  it('is claimed for its slot when that is picked, and bound when a slot has answered', async () => {
    const kit = await openPool(two);
    const policy = sticky('s').policy;
    const first = await kit.pool.lease(sticky('s', { policy }));
    const second = await kit.pool.lease(sticky('s', { policy }));
    expect([first.slot.id, second.slot.id]).to.deep.equal(['a', 'a']);
    expect(kit.pool.list().map(({ bindings }) => bindings)).to.deep.equal([0, 0]);
    const moved = await second.another(failure('timeout'));
    expect(moved!.slot.id).to.equal('b');
    moved!.answered({});
    first.release();
    moved!.release();
    expect(await answer(kit, sticky('s'))).to.equal('b');
    expect(kit.pool.list().map(({ bindings }) => bindings)).to.deep.equal([0, 1]);
  });

  it('waits for its slot where that is full, while others take a free one', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
    const held = await kit.pool.lease(sticky('s'));
    held.answered({});
    let slot: string | undefined;
    const wait = async (): Promise<void> => {
      slot = (await kit.pool.lease(sticky('s'))).slot.id;
    };
    const waiting = wait();
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('b');
    await settled();
    expect(slot).to.equal(undefined);
    held.release();
    await waiting;
    expect(slot).to.equal('a');
  });

  it('moves to the slot that answers when its own is not schedulable, and stays there', async () => {
    const kit = await openPool(two);
    expect(await answer(kit, sticky('s'))).to.equal('a');
    kit.pool.pause('a');
    expect(await answer(kit, sticky('s'))).to.equal('b');
    kit.pool.resume('a');
    expect(await answer(kit, sticky('s'))).to.equal('b');
  });

  it('keeps its slot when another one answers in its place without the slot being at fault', async () => {
    const kit = await openPool(two);
    expect(await answer(kit, sticky('s'))).to.equal('a');
    const lease = await (await kit.pool.lease(sticky('s'))).another(failure('empty'));
    expect(lease?.slot.id).to.equal('b');
    lease?.answered({});
    lease?.release();
    expect(await answer(kit, sticky('s'))).to.equal('a');
  });

  it('moves with a failover that cools its slot down', async () => {
    const kit = await openPool(two);
    expect(await answer(kit, sticky('s'))).to.equal('a');
    const lease = await (await kit.pool.lease(sticky('s'))).another(refusal(529));
    lease?.answered({});
    lease?.release();
    kit.clock.pass(60_000);
    expect(await answer(kit, sticky('s'))).to.equal('b');
  });

  it('keeps its slot while it also asks for a model that only another slot serves', async () => {
    const kit = await openPool([
      slotConfig('a', { models: ['sonnet-*'] }),
      slotConfig('b', { models: ['sonnet-*', 'haiku-*'] }),
    ]);
    expect(await answer(kit, sticky('s'))).to.equal('a');
    expect(await answer(kit, sticky('s', { model: 'haiku-5' }))).to.equal('b');
    expect(await answer(kit, sticky('s'))).to.equal('a');
  });

  it('takes its further calls to the same slot, and waits for it', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
    const picker = kit.pool.picker(sticky('s'));
    const lease = await picker.lease(sonnet);
    const further = picker.lease(sonnet);
    await settled();
    expect(kit.pool.list().map(({ queued }) => queued)).to.deep.equal([1, 0]);
    lease.release();
    expect((await further).slot.id).to.equal('a');
  });

  it('is forgotten when its time to live is over, counted from the last use', async () => {
    const kit = await openPool(two);
    const policy = sticky('s').policy;
    expect(await answer(kit, sticky('s', { policy }))).to.equal('a');
    kit.clock.pass(3_000_000);
    expect(await answer(kit, sticky('s', { policy }))).to.equal('a');
    kit.clock.pass(3_000_000);
    expect(await answer(kit, sticky('s', { policy }))).to.equal('a');
    kit.clock.pass(3_600_000);
    expect(await answer(kit, sticky('s', { policy }))).to.equal('b');
  });

  it('is kept across a restart', async () => {
    const first = await openPool(two);
    const last = sticky('s', { policy: (candidates) => candidates.at(-1)! });
    expect(await answer(first, last)).to.equal('b');
    await first.pool.close();
    const second = await openPool(two, { clock: first.clock, store: first.store });
    expect(await answer(second, sticky('s'))).to.equal('b');
  });

  it('bound to a slot that a reload took away goes elsewhere', async () => {
    const kit = await openPool(two);
    expect(await answer(kit, sticky('s'))).to.equal('a');
    await kit.pool.reload([slotConfig('b')]);
    expect(await answer(kit, sticky('s'))).to.equal('b');
  });
});

describe('Bindings', () => {
  const alone = { messages: new MemoryHub().connect().messages };

  it('tell the store of a renewal only after a tenth of the time to live', async () => {
    const clock = new ManualClock();
    const { store, puts } = countingStore();
    const bindings = new Bindings({ store, log: silent, clock, ...alone });
    for (let times = 0; times < 21; times += 1) {
      bindings.keep('s', 'a', 1000);
      await bindings.flush();
      clock.pass(10);
    }
    expect(puts).to.have.length(2);
    expect(bindings.peek('s')).to.equal('a');
  });

  it('are all in the store after a flush, whenever they were kept', async () => {
    for (let turns = 0; turns < 10; turns += 1) {
      const { store } = countingStore();
      const bindings = new Bindings({ store, log: silent, clock: new ManualClock(), ...alone });
      bindings.keep('first', 'a', 1000);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      bindings.keep('second', 'a', 1000);
      await bindings.flush();
      expect(await store.get('second'), `after ${turns} turns`).to.include({ slotId: 'a' });
    }
  });

  it('leave the last word in the store, however fast it changes', async () => {
    const { store } = countingStore();
    const bindings = new Bindings({ store, log: silent, clock: new ManualClock(), ...alone });
    bindings.keep('s', 'a', 1000);
    bindings.drop('s');
    bindings.keep('s', 'b', 1000);
    bindings.keep('t', 'a', 1000);
    bindings.drop('t');
    await bindings.flush();
    expect(await store.get('s')).to.include({ slotId: 'b' });
    expect(await store.get('t')).to.equal(undefined);
  });

  it('are bounded in memory and read from the store again', async () => {
    const { store } = countingStore();
    const bindings = new Bindings({ store, log: silent, clock: new ManualClock(), capacity: 2, ...alone });
    for (const key of ['s', 't', 'u']) {
      bindings.keep(key, 'a', 1000);
      await bindings.flush();
    }
    expect(bindings.counts().get('a')).to.equal(2);
    expect(bindings.peek('s')).to.equal(undefined);
    await bindings.load('s');
    expect(bindings.peek('s')).to.equal('a');
  });

  it('are not read for ever more sessions while the store is silent', async () => {
    let asked = 0;
    const get = () => {
      asked += 1;
      return new Promise<undefined>(() => undefined);
    };
    const store = { ...countingStore().store, get };
    const bindings = new Bindings({ store, log: silent, clock: new ManualClock(), ...alone });
    for (let at = 0; at < 1000; at += 1) expect(bindings.load(`s${at}`)).to.be.a('promise');
    expect(bindings.load('one more')).to.equal(undefined);
    expect(asked).to.equal(1000);
  });

  it('go on where the store fails', async () => {
    const counting = countingStore();
    const bindings = new Bindings({ store: counting.store, log: silent, clock: new ManualClock(), ...alone });
    counting.fail = true;
    bindings.keep('s', 'a', 1000);
    await bindings.flush();
    expect(bindings.peek('s')).to.equal('a');
  });
});

async function answer({ pool }: Kit, request: LeaseRequest): Promise<string> {
  const lease = await pool.lease(request);
  lease.answered({});
  lease.release();
  return lease.slot.id;
}

/** A store that counts, and that can be made to fail. */
function countingStore(): { store: MemoryStore['bindings']; puts: [string, Binding][]; fail: boolean } {
  const puts: [string, Binding][] = [];
  const memory = new MemoryStore({ now: () => 0 }).bindings;
  const counting = {
    puts,
    fail: false,
    store: {
      ...memory,
      put: async (key: string, binding: Binding): Promise<void> => {
        if (counting.fail) throw new Error('disk full');
        puts.push([key, binding]);
        await memory.put(key, binding);
      },
    },
  };
  return counting;
}
