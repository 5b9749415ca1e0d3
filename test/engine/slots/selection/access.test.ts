import { expect } from 'chai';
import type { Caller, PickPolicy } from '@gw2api/gateway/plugin';
import { openPool, leaseRequest, rejection, settled, slotConfig, sticky, type Kit } from '../kit.js';

const laptop: Caller = { kind: 'key', keyId: 'k1', name: 'laptop' };
const small = { ...laptop, models: ['haiku-*'] };
const red = { ...laptop, slots: ['red-*'] };

/** Ids of the slots of so many leases that are held at a time. */
async function slotsOf(
  kit: Kit,
  changes: Parameters<typeof leaseRequest>[0],
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) ids.push((await kit.pool.lease(leaseRequest(changes))).slot.id);
  return ids.toSorted();
}

describe('what a key may use', () => {
  it('is enforced for each call, whatever the request has asked for before', async () => {
    const kit = await openPool([slotConfig('a')]);
    const picker = kit.pool.picker(leaseRequest({ caller: small }));
    expect((await picker.lease({ model: 'haiku-5', messages: [] })).slot.id).to.equal('a');
    const error = await rejection(picker.lease({ model: 'sonnet-5', messages: [] }));
    expect(error).to.include({
      status: 403,
      code: 'forbidden',
      message: 'The key "laptop" may not use model "sonnet-5".',
    });
  });

  it('holds for the models of tools that a stage has added', async () => {
    const kit = await openPool([slotConfig('a')]);
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'sonnet-5' }];
    const picker = kit.pool.picker(leaseRequest({ caller: small }));
    const error = await rejection(picker.lease({ model: 'haiku-5', messages: [], tools }));
    expect(error).to.include({
      code: 'forbidden',
      message: 'The key "laptop" may not use model "sonnet-5".',
    });
  });

  it('leaves only its own slots, when another has failed or is free too', async () => {
    const kit = await openPool([slotConfig('red-1'), slotConfig('blue'), slotConfig('red-2')]);
    expect(await slotsOf(kit, { caller: red }, 3)).to.deep.equal(['red-1', 'red-1', 'red-2']);
    expect(await slotsOf(kit, { caller: laptop }, 1)).to.deep.equal(['blue']);
  });

  it('is refused where no slot of its own serves the model, and not found where none does at all', async () => {
    const kit = await openPool([
      slotConfig('blue', { models: ['sonnet-*'] }),
      slotConfig('red-1', { models: ['haiku-*'] }),
    ]);
    const ask = (model: string) => rejection(kit.pool.lease(leaseRequest({ model, caller: red })));
    expect(await ask('sonnet-5')).to.include({
      code: 'forbidden',
      message: 'The key "laptop" may not use any slot that serves the model "sonnet-5".',
    });
    expect(await ask('opus-5')).to.include({ code: 'model_not_found' });
  });

  it('is waited for, though other slots have room', async () => {
    const kit = await openPool([slotConfig('red-1', { maxConcurrent: 1 }), slotConfig('blue')]);
    const first = await kit.pool.lease(leaseRequest({ caller: red }));
    const waiting = kit.pool.lease(leaseRequest({ caller: red }));
    await settled();
    first.release();
    expect((await waiting).slot.id).to.equal('red-1');
  });

  it('is not a slot that its session is bound to from before', async () => {
    const kit = await openPool([slotConfig('blue'), slotConfig('red-1')]);
    const bound = await kit.pool.lease(sticky('s', { caller: laptop }));
    expect(bound.slot.id).to.equal('blue');
    bound.answered({});
    bound.release();
    expect((await kit.pool.lease(sticky('s', { caller: red }))).slot.id).to.equal('red-1');
  });
});

describe('the slots of a stage', () => {
  it('are the only ones, and of those the ones that the key may use', async () => {
    const kit = await openPool([slotConfig('red-1'), slotConfig('red-2'), slotConfig('blue')]);
    expect(await slotsOf(kit, { slots: ['*-2', 'blue'] }, 2)).to.deep.equal(['blue', 'red-2']);
    expect(await slotsOf(kit, { slots: ['*-2', 'blue'], caller: red }, 1)).to.deep.equal(['red-2']);
  });

  it('are named where none of them serves the model', async () => {
    const kit = await openPool([slotConfig('red-1', { models: ['haiku-*'] }), slotConfig('blue')]);
    expect(await rejection(kit.pool.lease(leaseRequest({ slots: ['red-*'] })))).to.include({
      status: 404,
      code: 'model_not_found',
      message: 'No slot of "red-*" serves the model "sonnet-5".',
    });
  });
});

describe('a policy', () => {
  it('is given the request, its caller and the catalog id of its model', async () => {
    const seen: unknown[] = [];
    const policy: PickPolicy = ([first], call) => {
      seen.push(call);
      return first;
    };
    const kit = await openPool([slotConfig('a')]);
    const request = {
      model: 'claude-sonnet-5-20260101',
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    await kit.pool.picker(leaseRequest({ policy, caller: laptop })).lease(request);
    expect(seen).to.deep.equal([{ request, caller: laptop, model: 'sonnet-5' }]);
  });

  it('may pick none, which refuses the call and names it', async () => {
    const kit = await openPool([slotConfig('a')]);
    const none: PickPolicy = () => undefined;
    expect(await rejection(kit.pool.lease(leaseRequest({ policy: none })))).to.include({
      status: 503,
      code: 'no_slot_available',
      message: 'The policy "none" picked no slot for the model "sonnet-5".',
    });
  });
});
