import { expect } from 'chai';
import {
  failure,
  leaseRequest,
  modelsOf,
  openPool,
  refusal,
  rejection,
  settled,
  slotConfig,
  stateOf,
  sticky,
  unreachable,
} from './kit.js';

const ready = { state: 'ready', reason: null, forMs: null };
const rejected = { state: 'rejected', reason: null, forMs: null };

describe('failover', () => {
  const two = [slotConfig('a'), slotConfig('b')];

  for (const status of [400, 403, 404, 413]) {
    it(`ends with a ${status}: it is about this request, and the slot is untouched`, async () => {
      const kit = await openPool(two);
      const lease = await kit.pool.lease(leaseRequest());
      expect(await lease.another(refusal(status))).to.equal(undefined);
      expect(stateOf(kit, 'a')).to.deep.equal(ready);
      expect(kit.pool.list()).to.satisfy((slots: { inFlight: number }[]) =>
        slots.every((s) => s.inFlight === 0),
      );
    });
  }

  it('ends with an error that no call brought', async () => {
    const kit = await openPool(two);
    const lease = await kit.pool.lease(leaseRequest());
    expect(await lease.another(new Error('bug') as never)).to.equal(undefined);
    expect(kit.pool.list()[0]?.inFlight).to.equal(0);
  });

  it('tries each slot once, then the first again', async () => {
    const kit = await openPool([...two, slotConfig('c')]);
    let lease = await kit.pool.lease(leaseRequest());
    const path = [lease.slot.id];
    for (const error of [failure('foreign'), failure('interrupted'), failure('empty'), failure('foreign')]) {
      lease = (await lease.another(error))!;
      path.push(lease.slot.id);
    }
    expect(path).to.deep.equal(['a', 'b', 'c', 'a', 'a']);
  });

  it('asks the slot of a 5xx once more, then each other one, and none of them twice in a row again', async () => {
    const kit = await openPool([...two, slotConfig('c')]);
    let lease = await kit.pool.lease(leaseRequest());
    const path = [lease.slot.id];
    for (const status of [500, 502, 504, 500]) {
      lease = (await lease.another(refusal(status)))!;
      path.push(lease.slot.id);
    }
    expect(path).to.deep.equal(['a', 'a', 'b', 'c', 'a']);
  });

  it('does not ask the slot of a 5xx again that asks not to be', async () => {
    const { pool } = await openPool(two);
    const lease = await pool.lease(leaseRequest());
    expect((await lease.another(refusal(500, { 'x-should-retry': 'false' })))?.slot.id).to.equal('b');
  });

  it('gives the place back that it leaves', async () => {
    const kit = await openPool(two);
    const lease = await kit.pool.lease(leaseRequest());
    await lease.another(failure('foreign'));
    lease.release();
    expect(kit.pool.list().map(({ inFlight }) => inFlight)).to.deep.equal([0, 1]);
  });

  it('sends a request again to the only slot after a failure that may pass at once', async () => {
    for (const error of [refusal(500), refusal(529), failure('foreign'), unreachable()]) {
      const { pool } = await openPool([slotConfig('a')]);
      const lease = await pool.lease(leaseRequest());
      expect((await lease.another(error))?.slot.id).to.equal('a');
    }
  });

  it('passes on what the only slot answers where asking again at once is no use', async () => {
    for (const error of [refusal(429), refusal(401), failure('timeout')]) {
      const { pool } = await openPool([slotConfig('a')]);
      const lease = await pool.lease(leaseRequest());
      expect(await lease.another(error)).to.equal(undefined);
    }
  });

  it('goes back only to slots where that is of use', async () => {
    const { pool } = await openPool(two);
    const first = await pool.lease(leaseRequest());
    const second = await first.another(refusal(429));
    const third = await second?.another(refusal(529));
    expect([first, second, third].map((lease) => lease?.slot.id)).to.deep.equal(['a', 'b', 'b']);
  });

  it('prefers the slot that has failed once to one that is cooling down', async () => {
    const kit = await openPool(two);
    const [first, second] = [await kit.pool.lease(leaseRequest()), await kit.pool.lease(leaseRequest())];
    second.release();
    await (
      await kit.pool.lease(leaseRequest({ policy: (candidates) => candidates.at(-1)! }))
    ).another(refusal(429));
    expect((await first.another(refusal(500)))?.slot.id).to.equal('a');
  });

  it('tries a slot that is cooling down where nothing else is left', async () => {
    const kit = await openPool(two);
    const first = await kit.pool.lease(leaseRequest());
    (
      await (
        await kit.pool.lease(leaseRequest({ policy: (candidates) => candidates.at(-1)! }))
      ).another(refusal(429))
    )?.release();
    expect((await first.another(refusal(401)))?.slot.id).to.equal('b');
  });

  it('sends a request once more at once where a reused connection was closed, which says nothing about the slot', async () => {
    const kit = await openPool(two);
    const first = await kit.pool.lease(leaseRequest());
    const second = await first.another(unreachable(true));
    expect(second?.slot.id).to.equal('a');
    expect(stateOf(kit, 'a')).to.deep.equal(ready);
    const third = await second?.another(unreachable(true));
    expect(third?.slot.id).to.equal('b');
    expect(stateOf(kit, 'a')).to.deep.equal({ state: 'cooling', reason: 'unreachable', forMs: 2000 });
  });

  it('waits for a place where the other slot is full, and passes the error on when the time is over', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b', { maxConcurrent: 1 })]);
    const toB = leaseRequest({ policy: (candidates) => candidates.at(-1)! });
    const inB = await kit.pool.lease(toB);
    const first = (await kit.pool.lease(leaseRequest())).another(failure('empty'));
    const second = (await kit.pool.lease(leaseRequest({ queueTimeoutMs: 100 }))).another(failure('empty'));
    kit.clock.pass(100);
    expect(await second).to.equal(undefined);
    inB.release();
    expect((await first)?.slot.id).to.equal('b');
  });
});

describe('slot states', () => {
  it('rejects a slot on 401 until a probe succeeds, five minutes later at the earliest', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lease = await kit.pool.lease(leaseRequest());
    await lease.another(refusal(401));
    expect(stateOf(kit, 'a')).to.deep.equal(rejected);
    const error = await rejection(kit.pool.lease(leaseRequest()));
    expect(error).to.include({ code: 'no_slot_available', status: 503 });
    expect(error.message).to.include('"a" is rejected');

    kit.upstream('a').countTokens = async () => Promise.reject(refusal(401));
    kit.clock.pass(300_000);
    await settled();
    expect(stateOf(kit, 'a')).to.deep.equal(rejected);
    kit.upstream('a').countTokens = async () => ({ inputTokens: 8, estimated: true });
    kit.clock.pass(300_000);
    await settled();
    expect(stateOf(kit, 'a'), 'an estimate proves nothing').to.deep.equal(rejected);
    kit.upstream('a').countTokens = async () => ({ inputTokens: 8, estimated: false });
    kit.clock.pass(300_000);
    await settled();
    expect(stateOf(kit, 'a')).to.deep.equal(ready);
    kit.clock.pass(10_000); // by then the states have been stored, and the limits of the probes have passed
    expect(kit.clock.timers).to.equal(0);
  });

  it('probes with a model that the slot serves, by its upstream name', async () => {
    const kit = await openPool([slotConfig('a', { models: ['haiku-*'] })]);
    const lease = await kit.pool.lease(leaseRequest({ model: 'haiku-5' }));
    await lease.another(refusal(401));
    kit.clock.pass(300_000);
    await settled();
    expect(kit.upstream('a').calls.map(({ request }) => request.model)).to.deep.equal(['up-haiku-5']);
    expect(kit.upstream('a').calls[0]?.credential).to.deep.equal({ 'x-api-key': 'key-of-a' });
  });

  it('cools one model of a slot after a 429, for as long as the upstream says', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b')]);
    const lease = await kit.pool.lease(leaseRequest());
    (await lease.another(refusal(429, { 'retry-after': '7' })))?.release();
    expect(stateOf(kit, 'a')).to.deep.equal(ready);
    expect(modelsOf(kit, 'a')).to.deep.equal([{ model: 'up-sonnet-5', reason: 'rate_limited', forMs: 7000 }]);
    const slotsOf = async (model: string): Promise<ReadonlySet<string>> => {
      const leases = await Promise.all([1, 2].map(() => kit.pool.lease(leaseRequest({ model }))));
      for (const each of leases) each.release();
      return new Set(leases.map(({ slot }) => slot.id));
    };
    expect([...(await slotsOf('sonnet-5'))]).to.deep.equal(['b']);
    expect([...(await slotsOf('haiku-5'))]).to.deep.equal(['a', 'b']);
    kit.clock.pass(7000);
    expect([...(await slotsOf('sonnet-5'))]).to.deep.equal(['a', 'b']);
  });

  it('doubles a cooldown with every failure, and starts over after a success', async () => {
    const kit = await openPool([slotConfig('a')]);
    const lengths: unknown[] = [];
    for (const status of [429, 429, 200, 429]) {
      const lease = await kit.pool.lease(leaseRequest());
      if (status === 200) lease.answered({});
      else await lease.another(refusal(status));
      lease.release();
      lengths.push(modelsOf(kit, 'a'));
    }
    expect(lengths).to.deep.equal([limited(30_000), limited(60_000), [], limited(30_000)]);
  });

  it('keeps a cooldown when a call that began before it succeeds', async () => {
    const kit = await openPool([slotConfig('a')]);
    const early = await kit.pool.lease(leaseRequest());
    await (await kit.pool.lease(leaseRequest())).another(refusal(429));
    early.answered({});
    expect(modelsOf(kit, 'a')).to.have.length(1);
  });

  it('tries a slot that is cooling down all the same where no other is ready, and is rid of it by a success', async () => {
    const kit = await openPool([slotConfig('a')]);
    await (await kit.pool.lease(leaseRequest())).another(refusal(429));
    const lease = await kit.pool.lease(leaseRequest());
    expect(lease.slot.id).to.equal('a');
    lease.answered({});
    expect(modelsOf(kit, 'a')).to.deep.equal([]);
  });

  it('takes the cooling slot that is ready soonest', async () => {
    const kit = await openPool([slotConfig('a'), slotConfig('b')]);
    const first = await kit.pool.lease(leaseRequest());
    const second = await first.another(refusal(429, { 'retry-after': '60' }));
    await second?.another(refusal(429, { 'retry-after': '20' }));
    expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('b');
  });

  describe('with an exhausted window', () => {
    it('cools the whole slot, and answers 429 itself where there is no other', async () => {
      const kit = await openPool([slotConfig('a')]);
      const untilMs = kit.clock.now() + 3_600_000;
      const lease = await kit.pool.lease(leaseRequest());
      expect(await lease.another(refusal(429, exhausted(untilMs)))).to.equal(undefined);
      expect(stateOf(kit, 'a')).to.deep.equal({
        state: 'cooling',
        reason: 'window_exhausted',
        forMs: 3_600_000,
      });
      expect(kit.pool.schedulable).to.equal(0);
      kit.clock.pass(600_000);
      const error = await rejection(kit.pool.lease(leaseRequest({ model: 'haiku-5' })));
      expect(error).to.include({ code: 'rate_limited', status: 429, type: 'rate_limit_error' });
      expect(error.headers).to.deep.equal({ 'retry-after': '3000' });
      kit.clock.pass(3_000_000);
      expect((await kit.pool.lease(leaseRequest())).slot.id).to.equal('a');
    });

    it('also where the answer that says so was a success', async () => {
      const kit = await openPool([slotConfig('a'), slotConfig('b')]);
      const lease = await kit.pool.lease(leaseRequest());
      lease.answered(exhausted(kit.clock.now() + 60_000));
      expect(stateOf(kit, 'a')).to.include({ reason: 'window_exhausted' });
    });

    it('not where use beyond the window is allowed', async () => {
      const kit = await openPool([slotConfig('a')]);
      const lease = await kit.pool.lease(leaseRequest());
      lease.answered({
        ...exhausted(kit.clock.now() + 60_000),
        'anthropic-ratelimit-unified-status': 'allowed',
      });
      expect(stateOf(kit, 'a')).to.deep.equal(ready);
    });

    it('never asks it again in the same request', async () => {
      const kit = await openPool([slotConfig('a'), slotConfig('b')]);
      const first = await kit.pool.lease(leaseRequest());
      const second = await first.another(refusal(429, exhausted(kit.clock.now() + 60_000)));
      expect(second?.slot.id).to.equal('b');
      expect((await second?.another(refusal(500)))?.slot.id).to.equal('b');
    });
  });

  it('are said where nobody but the operator can help', async () => {
    const { pool } = await openPool([
      slotConfig('a'),
      slotConfig('b'),
      slotConfig('c', { models: ['haiku-5'] }),
    ]);
    pool.pause('a');
    pool.drain('b');
    const error = await rejection(pool.lease(leaseRequest()));
    expect(error).to.include({ code: 'no_slot_available', status: 503, type: 'overloaded_error' });
    expect(error.message).to.equal(
      'No slot that serves the model "sonnet-5" takes requests: "a" is paused (the operator can resume it); ' +
        '"b" is draining (the operator can resume it).',
    );
  });

  it('are left by the operator: paused, draining, rejected and cooling slots are ready when resumed', async () => {
    const kit = await openPool([slotConfig('a')]);
    const failed = async (status: number): Promise<void> => {
      (await (await kit.pool.lease(leaseRequest())).another(refusal(status)))?.release();
    };
    const ways = [
      async () => kit.pool.pause('a'),
      async () => kit.pool.drain('a'),
      () => failed(401),
      () => failed(529),
    ];
    for (const way of ways) {
      await way();
      kit.pool.resume('a');
      expect(stateOf(kit, 'a')).to.deep.equal(ready);
      expect(modelsOf(kit, 'a')).to.deep.equal([]);
    }
    kit.clock.pass(1000); // by then the others have been told of the last error, and the states are stored
    await settled();
    expect(kit.clock.timers, 'no probe is left').to.equal(0);
  });

  it('of a slot that is not there are an error', async () => {
    const { pool } = await openPool([slotConfig('a')]);
    expect(() => pool.pause('zzz')).to.throw('Unknown slot "zzz".');
    expect(await rejection(pool.diagnose('zzz', new AbortController().signal))).to.include({ status: 404 });
  });

  it('let a waiting sticky request go when its slot is paused', async () => {
    const kit = await openPool([slotConfig('a', { maxConcurrent: 1 }), slotConfig('b')]);
    const first = await kit.pool.lease(sticky('s'));
    first.answered({});
    const waiting = kit.pool.lease(sticky('s'));
    await settled();
    expect(kit.pool.list().map(({ queued }) => queued)).to.deep.equal([1, 0]);
    kit.pool.pause('a');
    expect((await waiting).slot.id).to.equal('b');
  });

  it('show the last failure in words', async () => {
    const kit = await openPool([slotConfig('a')]);
    (await (await kit.pool.lease(leaseRequest())).another(refusal(529)))?.release();
    expect(kit.pool.list()[0]).to.include({ lastError: 'status 529', lastErrorAtMs: kit.clock.now() });
  });

  it('forget the last failure when the slot has recovered, and not while a model still cools down', async () => {
    const kit = await openPool([slotConfig('a')]);
    const fail = async (model: string) =>
      (await (await kit.pool.lease(leaseRequest({ model }))).another(refusal(529)))?.release();
    const succeed = async (model: string) => {
      const lease = await kit.pool.lease(leaseRequest({ model }));
      lease.answered({});
      lease.release();
    };
    await fail('sonnet-5');
    await succeed('haiku-5');
    expect(kit.pool.list()[0]).to.include({ lastError: 'status 529' });
    await succeed('sonnet-5');
    expect(kit.pool.list()[0]).to.include({ lastError: null, lastErrorAtMs: null });
  });
});

function limited(forMs: number): unknown {
  return [{ model: 'up-sonnet-5', reason: 'rate_limited', forMs }];
}

function exhausted(untilMs: number): Record<string, string> {
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': String(untilMs / 1000),
    'anthropic-ratelimit-unified-5h-utilization': '1.0',
  };
}
