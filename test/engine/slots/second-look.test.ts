import { expect } from 'chai';
import { calm, openInstances } from './instances.js';
import {
  leaseRequest,
  modelsOf,
  openPool,
  refusal,
  rejection,
  settled,
  slotConfig,
  stateOf,
  sticky,
  type Kit,
} from './kit.js';
import { defaultCooldown } from '../../default-cooldown.js';

const minute = 60_000;
const day = 24 * 60 * minute;
const inFiveDays = { 'retry-after': String(5 * 24 * 3600) };

function usedUp(untilMs: number): Record<string, string> {
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-7d-status': 'rejected',
    'anthropic-ratelimit-unified-7d-reset': String(untilMs / 1000),
  };
}

/** Lets the only slot of a pool fail once. */
async function fail(kit: Kit, headers: Record<string, string>, status = 429): Promise<void> {
  (await kit.pool.lease(leaseRequest())).failed(refusal(status, headers));
}

describe('a second look', () => {
  const alone = [slotConfig('a')];
  const two = [slotConfig('a', { maxConcurrent: 9 }), slotConfig('b', { maxConcurrent: 9 })];

  it('is taken by one request after 15 minutes at a slot whose window is used up for days', async () => {
    const kit = await openPool(alone);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    kit.clock.pass(15 * minute - 1);
    expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ status: 429 });
    kit.clock.pass(1);
    const look = await kit.pool.lease(leaseRequest());
    expect(look.slot.id).to.equal('a');
    const error = await rejection(kit.pool.lease(leaseRequest()));
    expect(error.headers, "the upstream's own time").to.deep.equal({
      'retry-after': String(5 * 24 * 3600 - 900),
    });
    look.answered({});
    expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
  });

  it('that fails begins the next period', async () => {
    const kit = await openPool(alone);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    for (const _ of [1, 2, 3]) {
      kit.clock.pass(15 * minute);
      await fail(kit, usedUp(kit.clock.now() + 5 * day));
      expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ status: 429 });
    }
  });

  it('that fails for another reason begins the next period too', async () => {
    const kit = await openPool(alone);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    kit.clock.pass(15 * minute);
    await fail(kit, {}, 502);
    expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ status: 429 });
    kit.clock.pass(15 * minute);
    (await kit.pool.lease(leaseRequest())).release();
  });

  it('without a result is for the next request: its caller has left, or its request was wrong', async () => {
    const kit = await openPool(alone);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    kit.clock.pass(15 * minute);
    const leaving = new AbortController();
    await kit.pool.lease(leaseRequest({ signal: leaving.signal }));
    leaving.abort();
    (await kit.pool.lease(leaseRequest())).failed(refusal(400));
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('a');
  });

  it('is taken beside slots that are ready, by one request, which they serve if it fails', async () => {
    const kit = await openPool(two);
    const leases = [await kit.pool.lease(leaseRequest()), await kit.pool.lease(leaseRequest())];
    leases[0]!.failed(refusal(429, inFiveDays));
    leases[1]!.release();
    expect(modelsOf(kit, 'a')).to.have.nested.property('[0].forMs', 5 * day);
    const ids = async () =>
      (await Promise.all([1, 2, 3].map(() => kit.pool.lease(leaseRequest())))).map(free);
    expect(await ids()).to.deep.equal(['b', 'b', 'b']);
    kit.clock.pass(15 * minute);
    const look = await kit.pool.lease(leaseRequest());
    expect(look.slot.id).to.equal('a');
    expect(await ids(), 'the others do not pile on').to.deep.equal(['b', 'b', 'b']);
    expect((await look.another(refusal(429, inFiveDays)))?.slot.id).to.equal('b');
  });

  it('is waited for by nobody: a queue wakes when it is due', async () => {
    const kit = await openPool([
      slotConfig('a', { maxConcurrent: 1 }),
      slotConfig('b', { maxConcurrent: 1 }),
    ]);
    const [one, _busy] = [await kit.pool.lease(leaseRequest()), await kit.pool.lease(leaseRequest())];
    one.failed(refusal(429, inFiveDays));
    kit.clock.pass(15 * minute - 10);
    const waiting = kit.pool.lease(leaseRequest());
    await settled();
    kit.clock.pass(10);
    expect((await waiting).slot.id).to.equal('a');
  });

  it('is as early as `cooldown.max` says, and leaves what ends before it alone', async () => {
    const cooldown = { ...defaultCooldown, maxMs: 10_000 };
    const kit = await openPool([slotConfig('a', { cooldown })]);
    await fail(kit, usedUp(kit.clock.now() + day));
    kit.clock.pass(10_000);
    (await kit.pool.lease(leaseRequest())).answered({});
    expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
  });

  it('by a session that is bound to the slot brings the session back to it', async () => {
    const kit = await openPool(two);
    const lease = await kit.pool.lease(sticky('s'));
    lease.answered(usedUp(kit.clock.now() + day));
    lease.release();
    kit.clock.pass(15 * minute);
    const look = await kit.pool.lease(sticky('s'));
    expect(look.slot.id).to.equal('a');
    look.answered({});
    expect(free(await kit.pool.lease(sticky('s')))).to.equal('a');
  });

  it('is one over all instances, and its success ends the cooldown in all of them', async () => {
    const { kits, clock } = await openInstances(alone);
    const [one, other] = kits as [Kit, Kit];
    await fail(one, usedUp(clock.now() + 5 * day));
    await calm();
    clock.pass(15 * minute);
    const look = await one.pool.lease(leaseRequest());
    await calm();
    expect(await rejection(other.pool.lease(leaseRequest()))).to.include({ status: 429 });
    look.answered({});
    await calm();
    for (const kit of kits) expect(stateOf(kit, 'a')).to.include({ state: 'ready' });
  });

  it('that an instance gives back may be taken by another one', async () => {
    const { kits, clock } = await openInstances(alone);
    const [one, other] = kits as [Kit, Kit];
    await fail(one, usedUp(clock.now() + 5 * day));
    await calm();
    clock.pass(15 * minute);
    const look = await one.pool.lease(leaseRequest());
    await calm();
    look.release();
    await calm();
    expect((await other.pool.lease(leaseRequest())).slot.id).to.equal('a');
  });

  it('is as far off after a restart as it was before', async () => {
    const before = await openPool(alone);
    await fail(before, usedUp(before.clock.now() + 5 * day));
    await before.pool.close();
    before.clock.pass(10 * minute);
    const kit = await openPool(alone, { store: before.store, clock: before.clock });
    expect(stateOf(kit, 'a')).to.include({ reason: 'window_exhausted' });
    kit.clock.pass(5 * minute - 1);
    expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ status: 429 });
    kit.clock.pass(1);
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('a');
  });

  it('keeps its time over a reload, which may change the lengths of later ones', async () => {
    const kit = await openPool(alone);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    await kit.pool.reload([slotConfig('a', { cooldown: { ...defaultCooldown, maxMs: minute } })]);
    kit.clock.pass(minute);
    expect(await rejection(kit.pool.lease(leaseRequest()))).to.include({ status: 429 });
    kit.clock.pass(14 * minute);
    await fail(kit, usedUp(kit.clock.now() + 5 * day));
    kit.clock.pass(minute);
    (await kit.pool.lease(leaseRequest())).release();
  });
});

describe('the lengths of cooldowns', () => {
  it('are those of the slot', async () => {
    const cooldown = {
      ...defaultCooldown,
      rateLimited: { firstMs: 100, maxMs: 300 },
      overloaded: { firstMs: 700, maxMs: 700 },
    };
    const kit = await openPool([slotConfig('a', { cooldown })]);
    const lengths: unknown[] = [];
    for (const _ of [1, 2, 3]) {
      await fail(kit, {});
      lengths.push(modelsOf(kit, 'a'));
    }
    const limited = (forMs: number) => [{ model: 'up-sonnet-5', reason: 'rate_limited', forMs }];
    expect(lengths).to.deep.equal([limited(100), limited(200), limited(300)]);
    await fail(kit, {}, 529);
    expect(modelsOf(kit, 'a')).to.deep.include({ model: 'up-sonnet-5', reason: 'overloaded', forMs: 700 });
  });
});

describe('the cause of a cooldown', () => {
  it('is the answer behind it with the header that has decided, without the credential', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lease = await kit.pool.lease(leaseRequest());
    await lease.slot.generate({
      request: { model: 'm', messages: [] },
      headers: {},
      search: '',
      signal: new AbortController().signal,
      headersTimeoutMs: 1000,
      idleTimeoutMs: 1000,
    });
    const { failure } = refusal(429, { 'retry-after': '60' });
    lease.failed(Object.assign(refusal(429), { failure, message: `Key key-of-a: ${'no '.repeat(400)}` }));
    const [{ cause, checkAtMs, untilMs } = failed()] = kit.pool.list()[0]!.models;
    expect(cause).to.deep.include({
      status: 429,
      code: 'upstream_says_no',
      header: 'retry-after: 60',
      atMs: kit.clock.now(),
    });
    expect(cause!.message)
      .to.match(/^Key \*\*\*: no no /)
      .and.have.length(500);
    expect([checkAtMs, untilMs]).to.deep.equal([kit.clock.now() + 60_000, kit.clock.now() + 60_000]);
  });

  it('of a used-up window is the header of its reset', async () => {
    const kit = await openPool([slotConfig('a')]);
    const untilMs = kit.clock.now() + day;
    await fail(kit, { ...usedUp(untilMs), 'retry-after': '7' });
    const header = `anthropic-ratelimit-unified-7d-reset: ${untilMs / 1000}`;
    expect(kit.pool.list()[0]!.cause).to.include({ status: 429, header });
  });

  it('of a rejected slot is its refusal', async () => {
    const kit = await openPool([slotConfig('a')]);
    await fail(kit, {}, 401);
    expect(kit.pool.list()[0]!.cause).to.include({ status: 401, header: null });
  });
});

function free(lease: { readonly slot: { readonly id: string }; release(): void }): string {
  lease.release();
  return lease.slot.id;
}

function failed(): never {
  throw new Error('No model cools down.');
}
