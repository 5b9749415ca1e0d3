import { expect } from 'chai';
import type { Caller, GatewayState, Host, KeyLimits } from '#src/plugin/index.js';
import type { Live } from '#src/plugin/contract/live.js';
import type { UsageTally } from '#src/plugin/contract/trace.js';
import { fakeHost, MemoryHub, runStage, type StageRun } from '@gw2api/gateway/testing';
import rateLimit from '#plugins/rate-limit.js';
import { headersOf } from '#plugins/shared/limit-answers.js';

const start = Date.UTC(2026, 0, 15, 12);

describe('rate-limit', () => {
  let nowMs: number;
  let host: Host;
  const now = () => nowMs;
  beforeEach(() => {
    nowMs = start;
    host = fakeHost({ now, live: new MemoryHub({ now }).connect() });
  });

  interface Asking {
    readonly limits?: KeyLimits;
    readonly caller?: Partial<Caller>;
    readonly options?: Readonly<Record<string, unknown>>;
    readonly usage?: UsageTally;
    readonly upstream?: Readonly<Record<string, string>>;
  }

  /** One request of the key `ci`. */
  function pass({ limits, caller, options, usage, upstream }: Asking): Promise<StageRun> {
    return runStage(rateLimit, {
      host,
      ...(options && { options }),
      state: {
        caller: { kind: 'key', keyId: 'k1', name: 'ci', ...(limits && { limits }), ...caller },
        request: { model: 'm', messages: [] },
      },
      below(ctx) {
        const { trace } = ctx.state as GatewayState;
        if (usage) trace.bill(usage.billed);
        if (usage) trace.mask(usage.masked);
        ctx.set({ ...upstream });
      },
    });
  }

  const used = (input: number, output = 0): UsageTally => ({
    billed: { input_tokens: input, output_tokens: output },
    masked: {},
  });

  function limitHeaders({ headers }: StageRun): Readonly<Record<string, unknown>> {
    return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-ratelimit-')));
  }

  it('lets as many requests through in a minute as the key may make, and says how many are left', async () => {
    const limits = { requestsPerMinute: 2 };
    const first = await pass({ limits });
    expect(first.nextCalled).to.equal(true);
    expect(limitHeaders(first)).to.deep.equal({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '1m0s',
    });
    nowMs += 20_500;
    const second = await pass({ limits });
    expect(limitHeaders(second)).to.include({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '40s',
    });
    expect((await pass({ limits })).nextCalled).to.equal(false);
  });

  it('refuses with 429, which limit of which key, and when it opens again', async () => {
    const limits = { requestsPerMinute: 1 };
    await pass({ limits });
    nowMs += 17_800;
    const { status, headers, body } = await pass({ limits });
    expect(status).to.equal(429);
    expect(headers).to.include({ 'retry-after': '43', 'x-ratelimit-remaining-requests': '0' });
    expect(headers).not.to.have.property('x-should-retry');
    expect(body).to.deep.equal({
      error: {
        type: 'rate_limit_error',
        code: 'rate_limited',
        message:
          'The key "ci" has reached its limit of 1 request per minute; it may continue in 43 s, at 2026-01-15T12:01:00Z.',
      },
    });
  });

  it('keeps its word: what waits for as long as it was told goes through, and not before', async () => {
    for (const limits of [{ requestsPerMinute: 1 }, { tokensPerMinute: 1 }, { tokensPerDay: 1 }]) {
      const keyId = JSON.stringify(limits);
      const ask = () => pass({ caller: { keyId }, limits, usage: used(1) });
      await ask();
      nowMs += 1;
      const seconds = Number((await ask()).headers['retry-after']);
      nowMs += (seconds - 1) * 1000;
      expect((await ask()).status, keyId).to.equal(429);
      nowMs += 1000;
      expect((await ask()).status, keyId).to.equal(204);
    }
  });

  it('does not count what it refuses', async () => {
    const both = { requestsPerMinute: 2, tokensPerMinute: 10 };
    await pass({ limits: both, usage: used(10) });
    for (let n = 0; n < 5; n += 1)
      expect((await pass({ limits: both, usage: used(99) })).status).to.equal(429);
    expect(await host.live.meters.read('requestsPerMinute:k1')).to.have.property('used', 1);
    expect(await host.live.meters.read('tokensPerMinute:k1')).to.have.property('used', 10);
  });

  it('counts input and output as the caller is told, wherever they were counted', async () => {
    const usage = {
      billed: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 1000,
        output_tokens: 10_000,
      },
      masked: { input_tokens: 3, cache_read_input_tokens: 20 },
    };
    await pass({ limits: { tokensPerMinute: 1 }, usage });
    expect(await host.live.meters.read('tokensPerMinute:k1')).to.have.property('used', 11_087);
  });

  it('lets a request through as long as a token is left', async () => {
    const limits = { tokensPerMinute: 10 };
    expect((await pass({ limits, usage: used(4, 5) })).status).to.equal(204);
    const second = await pass({ limits, usage: used(500, 500) });
    expect(limitHeaders(second)).to.deep.equal({
      'x-ratelimit-limit-tokens': '10',
      'x-ratelimit-remaining-tokens': '1',
      'x-ratelimit-reset-tokens': '1m0s',
    });
    const third = await pass({ limits });
    expect(third.status).to.equal(429);
    expect(third.headers['x-ratelimit-remaining-tokens']).to.equal('0');
  });

  it('names the limit that opens last where several are used up', async () => {
    const limits = { requestsPerMinute: 1, tokensPerMinute: 5, tokensPerDay: 5, tokensPerMonth: 500 };
    await pass({ limits, usage: used(5) });
    const { body, headers } = await pass({ limits });
    expect(body).to.have.nested.property('error.message').that.includes('5 tokens per day');
    expect(headers['retry-after']).to.equal(String(12 * 3600));
  });

  it('tells SDKs not to try again by themselves where the wait is long', async () => {
    const limits = { tokensPerMonth: 5 };
    await pass({ limits, usage: used(5) });
    const { headers, body } = await pass({ limits });
    expect(headers['x-should-retry']).to.equal('false');
    expect(body).to.have.nested.property('error.message').that.includes('at 2026-02-01T00:00:00Z');
  });

  it('asks nothing of anybody for a caller without limits', async () => {
    const nobody = new Proxy({} as Live, {
      get() {
        throw new Error('was asked');
      },
    });
    host = fakeHost({ live: nobody });
    for (const caller of [{}, { kind: 'master', keyId: 'master' }] as const) {
      const answer = await pass({ caller });
      expect(answer.status).to.equal(204);
      expect(limitHeaders(answer)).to.deep.equal({});
    }
  });

  it('has defaults for keys that say nothing themselves', async () => {
    const options = { requestsPerMinute: 5, tokensPerDay: 100 };
    const plain = await pass({ options });
    expect(limitHeaders(plain)).to.include({
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-limit-tokens': '100',
    });
    const own = await pass({ options, caller: { keyId: 'k2' }, limits: { requestsPerMinute: 7 } });
    expect(limitHeaders(own)).to.include({
      'x-ratelimit-limit-requests': '7',
      'x-ratelimit-limit-tokens': '100',
    });
  });

  it('limits the master key only where it is told to', async () => {
    const caller = { kind: 'master', keyId: 'master', name: 'master' } as const;
    const options = { requestsPerMinute: 1 };
    for (const status of [204, 204]) expect((await pass({ options, caller })).status).to.equal(status);
    const limitMaster = { ...options, limitMaster: true };
    for (const status of [204, 429])
      expect((await pass({ options: limitMaster, caller })).status).to.equal(status);
  });

  it('counts each key for itself', async () => {
    const limits = { requestsPerMinute: 1 };
    for (const keyId of ['a', 'b']) expect((await pass({ limits, caller: { keyId } })).status).to.equal(204);
  });

  it('tells of the key and not of an account that many share; other limits of an upstream pass', async () => {
    const upstream = {
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-reset-requests': '12ms',
      'x-ratelimit-limit-tokens': '100000',
    };
    expect(limitHeaders(await pass({ limits: { requestsPerMinute: 2 }, upstream }))).to.deep.equal({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '1m0s',
      'x-ratelimit-limit-tokens': '100000',
    });
    expect(limitHeaders(await pass({ upstream }))).to.deep.equal(upstream);
  });

  it('holds over all instances together', async () => {
    const hub = new MemoryHub({ now });
    const hosts = [hub, hub, hub].map((shared) => fakeHost({ now, live: shared.connect() }));
    const statuses = [];
    for (let n = 0; n < 6; n += 1) {
      host = hosts[n % 3]!;
      statuses.push((await pass({ limits: { requestsPerMinute: 4 } })).status);
    }
    expect(statuses).to.deep.equal([204, 204, 204, 204, 429, 429]);
  });

  it('goes on with what it counts itself while the others cannot be reached', async () => {
    host = fakeHost({ now, live: { ...new MemoryHub({ now }).connect(), isDown: true } });
    const limits = { requestsPerMinute: 1, tokensPerDay: 100 };
    for (const status of [204, 429]) expect((await pass({ limits })).status).to.equal(status);
  });

  describe('of a team', () => {
    const team = (limits: KeyLimits) => ({ id: 't1', name: 'search', limits });
    const status = async (asking: Asking) => (await pass(asking)).status;

    it('are shared by its keys, beside those of each', async () => {
      const shared = team({ requestsPerMinute: 3 });
      const ask = (keyId: string, limits?: KeyLimits) =>
        status({ caller: { keyId, team: shared }, ...(limits && { limits }) });
      expect(await ask('a', { requestsPerMinute: 1 })).to.equal(204);
      expect(await ask('a', { requestsPerMinute: 1 })).to.equal(429); // its own, and not counted for the team
      expect(await ask('b')).to.equal(204);
      expect(await ask('c', { requestsPerMinute: 9 })).to.equal(204);
      expect(await ask('b')).to.equal(429);
      expect(await ask('c', { requestsPerMinute: 9 })).to.equal(429);
      expect(await host.live.meters.read('requestsPerMinute:c')).to.have.property('used', 1);
      expect(await host.live.meters.read('requestsPerMinute:team/t1')).to.have.property('used', 3);
    });

    it('give back what they have counted only in the window in which it was counted', async () => {
      const live = new MemoryHub({ now }).connect();
      const { meters } = live;
      const take: typeof meters.take = async (meter, ...terms) => {
        const taken = await meters.take(meter, ...terms);
        if (!taken.isAllowed) nowMs += 1000;
        return taken;
      };
      const add: typeof meters.add = (...terms) => meters.add(...terms);
      host = fakeHost({ now, live: { ...live, meters: { ...openedOf(meters), take, add } } });
      const limits = { requestsPerMinute: 3 };
      const caller = (keyId: string) => ({ keyId, team: team({ requestsPerMinute: 1 }) });
      expect(await status({ caller: { keyId: 'a' }, limits })).to.equal(204);
      nowMs = start + 59_500;
      expect(await status({ caller: caller('b') })).to.equal(204);
      expect(await status({ caller: caller('a'), limits })).to.equal(429);
      expect(await meters.read('requestsPerMinute:a')).to.have.property('used', 0);
    });

    it('count the tokens of all its keys, and say whose limit is reached', async () => {
      const shared = team({ tokensPerDay: 10, tokensPerMinute: 1000 });
      for (const keyId of ['a', 'b'])
        expect(await status({ caller: { keyId, team: shared }, usage: used(5) })).to.equal(204);
      const { body, headers } = await pass({ caller: { keyId: 'c', team: shared } });
      expect(body)
        .to.have.nested.property('error.message')
        .that.includes('The team "search"')
        .and.includes('10 tokens per day');
      expect(headers).to.include({ 'x-ratelimit-limit-tokens': '10', 'x-ratelimit-remaining-tokens': '0' });
    });

    it('tell of the one with the least left in headers', async () => {
      const shared = team({ requestsPerMinute: 5 });
      const first = await pass({ caller: { team: shared }, limits: { requestsPerMinute: 9 } });
      expect(limitHeaders(first)).to.include({
        'x-ratelimit-limit-requests': '5',
        'x-ratelimit-remaining-requests': '4',
      });
    });

    it('hold places for all its keys together', async () => {
      const shared = team({ maxConcurrent: 1 });
      await host.live.permits.take('teams/t1', 1);
      const refused = await pass({ caller: { team: shared } });
      expect(refused.status).to.equal(429);
      expect(refused.body)
        .to.have.nested.property('error.message')
        .that.includes('The team "search" has reached its limit of 1 request at a time');
      host.live.permits.release('teams/t1');
      expect(await status({ caller: { team: shared } })).to.equal(204);
      expect(await status({ caller: { team: shared } })).to.equal(204);
    });

    it('do not take the defaults of keys', async () => {
      const options = { requestsPerMinute: 1 };
      const shared = { id: 't1', name: 'search' };
      for (const keyId of ['a', 'b'])
        expect(await status({ options, caller: { keyId, team: shared } })).to.equal(204);
    });
  });

  it('tells of the limit on tokens that has the least left', () => {
    const day = { unit: 'tokens', max: 100, used: 95, resetsInMs: 7_384_000 } as const;
    const minute = { unit: 'tokens', max: 50, used: 10, resetsInMs: 1 } as const;
    expect(headersOf([minute, day])).to.deep.equal({
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '5',
      'x-ratelimit-reset-tokens': '2h3m4s',
    });
    expect(headersOf([{ ...minute, used: 80 }, day])).to.include({
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1s',
    });
  });
});

function openedOf(meters: Live['meters']): Pick<Live['meters'], 'read' | 'open' | 'addOpened' | 'raise'> {
  return {
    read: (meter) => meters.read(meter),
    open: (...terms) => meters.open(...terms),
    addOpened: (...terms) => meters.addOpened(...terms),
    raise: (...terms) => meters.raise(...terms),
  };
}
