import { expect } from 'chai';
import type { Candidate } from '@gw2api/gateway/plugin';
import { ManualClock } from '@gw2api/gateway/testing';
import { calm } from './instances.js';
import { leaseRequest, openPool, refusal, slotConfig, stateOf, type Kit } from './kit.js';
import { MemoryStore } from '#src/state/store/memory/store.js';

const hour = 3_600_000;
const ids = ['paused', 'draining', 'rejected', 'cooling', 'used'];

/** A pool in which each slot is what its id says. */
async function openWithStates(clock: ManualClock, store: MemoryStore): Promise<Kit> {
  const kit = await openPool(
    ids.map((id) => slotConfig(id)),
    { clock, store },
  );
  const fail = async (slotId: string, headers: Readonly<Record<string, string>>, status: number) => {
    const policy = (slots: readonly Candidate[]) => slots.find(({ id }) => id === slotId)!;
    (await kit.pool.lease(leaseRequest({ policy }))).failed(refusal(status, headers));
  };
  await fail('cooling', exhausted(clock), 429);
  await fail('rejected', {}, 401);
  kit.pool.pause('paused');
  kit.pool.drain('draining');
  return kit;
}

/** A window that opens in two hours. */
function exhausted(clock: ManualClock): Readonly<Record<string, string>> {
  const prefix = 'anthropic-ratelimit-unified';
  return {
    [`${prefix}-5h-status`]: 'rejected',
    [`${prefix}-5h-utilization`]: '1',
    [`${prefix}-5h-reset`]: String((clock.now() + 2 * hour) / 1000),
  };
}

function states(kit: Kit): readonly unknown[] {
  return kit.pool.list().map(({ id, state }) => [id, state]);
}

describe('the states of slots at a restart', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryStore({ now: clock.now });
  });

  const restart = (configs = ids.map((id) => slotConfig(id))) => openPool(configs, { clock, store });

  for (const isClosed of [true, false])
    it(`are those of before ${isClosed ? 'the gateway was closed' : 'it was killed'}`, async () => {
      const before = await openWithStates(clock, store);
      clock.pass(2000);
      await calm();
      if (isClosed) await before.pool.close();
      clock.pass(hour);
      const after = await restart();
      expect(states(after)).to.deep.equal([
        ['paused', 'paused'],
        ['draining', 'draining'],
        ['rejected', 'rejected'],
        ['cooling', 'cooling'],
        ['used', 'ready'],
      ]);
      expect(stateOf(after, 'cooling')).to.deep.equal({
        state: 'cooling',
        reason: 'window_exhausted',
        forMs: hour - 2000,
      });
      const windows = after.pool.get('cooling')!.windows;
      expect(windows['5h']).to.deep.equal({ percentUsed: 100, resetsAtMs: clock.now() + hour - 2000 });
      await after.pool.close();
    });

  it('are dropped where their time is over', async () => {
    await (await openWithStates(clock, store)).pool.close();
    clock.pass(2 * hour);
    const after = await restart();
    expect(states(after)[3]).to.deep.equal(['cooling', 'ready']);
    expect(after.pool.get('cooling')!.windows).to.deep.equal({ '5h': null, '7d': null });
    const kept = (await store.slotStates.list()).map(({ key }) => key);
    expect(kept.filter((key) => key.includes('cool'))).to.deep.equal([]);
    await after.pool.close();
  });

  it('are forgotten where the operator has resumed the slot', async () => {
    const before = await openWithStates(clock, store);
    for (const id of ids) before.pool.resume(id);
    await before.pool.close();
    const after = await restart();
    expect(new Set(after.pool.list().map(({ state }) => state))).to.deep.equal(new Set(['ready']));
    await after.pool.close();
  });

  it('hold no rejection against another credential', async () => {
    await (await openWithStates(clock, store)).pool.close();
    const account = { kind: 'api-key', key: 'another', header: 'x-api-key' } as const;
    const after = await restart([slotConfig('rejected', { account }), slotConfig('paused', { account })]);
    expect(states(after)).to.deep.equal([
      ['rejected', 'ready'],
      ['paused', 'paused'],
    ]);
    await after.pool.close();
  });

  it('are read later where the store cannot be read at the start', async () => {
    await (await openWithStates(clock, store)).pool.close();
    const stored = store.slotStates;
    let isDown = true;
    const slotStates = {
      ...stored,
      list: async () => {
        if (isDown) throw new Error('away');
        return stored.list();
      },
    };
    const { bindings, credentials } = store;
    const after = await openPool(
      ids.map((id) => slotConfig(id)),
      { clock, store: { bindings, credentials, slotStates } as MemoryStore },
    );
    expect(states(after)[0]).to.deep.equal(['paused', 'ready']);
    isDown = false;
    clock.pass(5000);
    await calm();
    expect(states(after)[0]).to.deep.equal(['paused', 'paused']);
    expect(states(after)[2]).to.deep.equal(['rejected', 'rejected']);
    await after.pool.close();
  });

  it('are stored again where the store was away', async () => {
    let isDown = true;
    const slotStates: MemoryStore['slotStates'] = {
      ...store.slotStates,
      write: async (changes) => {
        if (isDown) throw new Error('away');
        return store.slotStates.write(changes);
      },
    };
    const { bindings, credentials } = store;
    const parts = { bindings, credentials, slotStates } as MemoryStore;
    const before = await openPool([slotConfig('s')], { clock, store: parts });
    before.pool.pause('s');
    await calm();
    expect(await store.slotStates.list()).to.deep.equal([]);
    isDown = false;
    clock.pass(1000);
    await calm();
    expect(await store.slotStates.list()).to.have.length(1);
    await before.pool.close();
  });
});
