import { expect } from 'chai';
import { ask, slotAt, startGateway, type Pair } from '../../harness.js';
import { callsTo, errorIn, inFlight, only, startTeam } from '../../kit.js';
import { clockAt } from '../../../clock-at.js';

interface Report {
  readonly id: string;
  readonly state: string;
  readonly in_flight: number;
  readonly [field: string]: unknown;
}

interface Diagnosis {
  readonly slot: string;
  readonly ok: boolean;
  readonly steps: readonly { step: string; ok: boolean; ms: number; detail: string }[];
}

describe('/admin/slots', () => {
  let team: Pair;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    team = await startTeam(
      {},
      { a: { weight: 2, maxConcurrent: 4 }, b: { models: ['haiku-*', 'sonnet-5'] } },
      {
        clock: clockAt(() => nowMs),
      },
    );
  });
  afterEach(() => team.close());

  const list = async () =>
    ((await (await team.get('/admin/slots')).json()) as { data: readonly Report[] }).data;

  async function order(id: string, verb: string): Promise<Report> {
    const response = await fetch(`${team.url}/admin/slots/${id}/${verb}`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key' },
    });
    expect(response.status).to.equal(200);
    return (await response.json()) as Report;
  }

  it('shows everything that is known of each slot', async () => {
    const [a, b] = await list();
    expect(a).to.deep.equal({
      id: 'a',
      upstream: 'messages',
      account: 'api-key',
      state: 'ready',
      reason: null,
      until: null,
      check_at: null,
      cause: null,
      cooling_models: [],
      in_flight: 0,
      queued: 0,
      max_concurrent: 4,
      weight: 2,
      models: ['*'],
      upstream_models: {},
      bindings: 0,
      windows: { '5h': null, '7d': null },
      last_error: null,
      last_error_at: null,
    });
    expect(b).to.deep.include({ id: 'b', models: ['haiku-*', 'sonnet-5'], weight: 1 });
    expect(JSON.stringify([a, b])).not.to.include('upstream-key');
  });

  it('shows what is under way, who is bound, the windows and the last error', async () => {
    team.simulator.faults.push(only('b', '529 message="b is busy"'));
    await order('a', 'pause');
    await errorIn(await team.post('/v1/messages', ask('Hello!')));
    await order('a', 'resume');
    const session = { 'x-session-id': 'one' };
    await (await team.post('/v1/messages', ask('[[sim:windows 5h=0.25]]'), session)).text();
    const leave = new AbortController();
    const stalled = await fetch(`${team.url}/v1/messages`, {
      method: 'POST',
      headers: { ...session, 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify(ask('[[sim:stall after=5]]', { stream: true })),
      signal: leave.signal,
    });
    expect(stalled.headers.get('x-gw-slot')).to.equal('a');
    const [a, b] = await list();
    expect(a).to.deep.include({ in_flight: 1, bindings: 1 });
    expect(a).to.have.deep.nested.property('windows.5h', {
      percent_used: 12.5,
      resets_at: new Date(Math.ceil((nowMs + 1) / 18_000_000) * 18_000_000).toISOString(),
    });
    expect(b).to.deep.include({ last_error: 'b is busy', last_error_at: new Date(nowMs).toISOString() });
    leave.abort();
  });

  for (const [verb, state] of [
    ['pause', 'paused'],
    ['drain', 'draining'],
  ] as const)
    it(`${verb} lets no new request in, and what is under way finish`, async () => {
      const slow = team.post(
        '/v1/messages',
        ask('[[sim:tokens n=20]][[sim:slow ms=2]]', { model: 'sonnet-5-5' }),
      );
      await team.simulator.nextRequest();
      expect(await order('a', verb)).to.include({ state, in_flight: 1 });
      expect(await (await slow).json()).to.have.property('stop_reason', 'end_turn');
      for (let at = 0; at < 3; at += 1)
        expect((await team.post('/v1/messages', ask('Hello!'))).headers.get('x-gw-slot')).to.equal('b');
      const error = await errorIn(await team.post('/v1/messages', ask('Hello!', { model: 'sonnet-5-5' })));
      expect(error).to.include({ status: 503, type: 'overloaded_error', code: 'no_slot_available' });
      expect(await order('a', 'resume')).to.include({ state: 'ready', in_flight: 0 });
      const served = await team.post('/v1/messages', ask('Hello!', { model: 'sonnet-5-5' }));
      expect(served.headers.get('x-gw-slot')).to.equal('a');
      expect(inFlight(team)).to.deep.equal([0, 0]);
    });

  it('resume also ends a cooldown', async () => {
    team.simulator.faults.push(only('a', 'window-exhausted times=1'));
    await order('b', 'pause');
    expect(await team.post('/v1/messages', ask('Hello!'))).to.have.property('status', 429);
    expect((await list())[0]).to.include({
      state: 'cooling',
      reason: 'window_exhausted',
      until: '2026-01-01T01:00:00.000Z',
    });
    await order('a', 'resume');
    expect(await team.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
  });

  it('does not know a slot that is not there: 404 names those that are', async () => {
    for (const verb of ['pause', 'resume', 'drain', 'diagnose']) {
      const error = await errorIn(await team.post(`/admin/slots/c/${verb}`, {}));
      expect(error).to.include({ status: 404, code: 'not_found' });
      expect(error.message).to.include('"a", "b"');
    }
  });

  describe('diagnose', () => {
    async function diagnosis(settings: object): Promise<Diagnosis> {
      const under = await startGateway({ slots: [slotAt(team.simulator.url, settings)] });
      const response = await under.post('/admin/slots/a/diagnose', {});
      await under.close();
      expect(response.status).to.equal(200);
      return (await response.json()) as Diagnosis;
    }

    it('resolves, connects and asks, and takes any answer for a good one', async () => {
      const { slot, ok, steps } = await diagnosis({});
      expect([slot, ok]).to.deep.equal(['a', true]);
      expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
        ['resolve', true],
        ['connect', true],
        ['request', true],
        ['credential', true],
      ]);
      for (const { ms } of steps) expect(ms).to.be.within(0, 10_000);
      expect(callsTo(team.simulator)).to.deep.equal([]);
    });

    it('says that the name cannot be resolved', async () => {
      const { ok, steps } = await diagnosis({ baseUrl: 'http://upstream.invalid' });
      expect(ok).to.equal(false);
      expect(steps).to.have.length(1);
      expect(steps[0]).to.include({ step: 'resolve', ok: false });
      expect(steps[0]!.detail).to.match(/upstream\.invalid/);
    });

    it('says that nobody listens', async () => {
      const { ok, steps } = await diagnosis({ baseUrl: 'http://127.0.0.1:9' });
      expect(ok).to.equal(false);
      expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
        ['resolve', true],
        ['connect', false],
      ]);
      expect(steps[1]!.detail).to.include('ECONNREFUSED');
    });

    it('says that the request failed', async () => {
      const { createServer } = await import('node:net');
      const server = createServer((socket) => socket.once('data', () => socket.destroy()));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      const { ok, steps } = await diagnosis({ baseUrl: `http://127.0.0.1:${port}` });
      server.close();
      expect(ok).to.equal(false);
      expect(steps.map(({ step, ok }) => [step, ok])).to.deep.equal([
        ['resolve', true],
        ['connect', true],
        ['request', false],
      ]);
    });

    it('changes nothing about the slot', async () => {
      await order('a', 'pause');
      await team.post('/admin/slots/a/diagnose', {});
      expect((await list())[0]).to.include({ state: 'paused', in_flight: 0 });
    });
  });
});

describe('picking a slot', () => {
  let team: Pair;
  afterEach(() => team.close());

  const policy = (name: string) => ({
    pipeline: [
      ...['auth', 'body-limit', 'format-decode'].map((use) => ({ use })),
      { use: 'slot-pick', with: { policy: name } },
      ...['upstream-call', 'format-encode'].map((use) => ({ use })),
    ],
  });

  async function picked(count: number): Promise<string> {
    let slots = '';
    for (let at = 0; at < count; at += 1)
      slots += (await team.post('/v1/messages', ask('Hello!'))).headers.get('x-gw-slot');
    return slots;
  }

  it('takes turns where all are equally loaded (least-loaded)', async () => {
    team = await startTeam(policy('least-loaded'));
    expect(await picked(6)).to.equal('ababab');
  });

  it('goes by the load per weight (least-loaded)', async () => {
    team = await startTeam(policy('least-loaded'), { a: { weight: 3 } });
    team.simulator.faults.push('late ms=500'); // all of them are under way before the first one ends
    const slots = await Promise.all(Array.from({ length: 8 }, () => picked(1)));
    expect(slots.filter((slot) => slot === 'a')).to.have.length(6);
  });

  it('takes turns by weight (round-robin)', async () => {
    team = await startTeam(policy('round-robin'), { a: { weight: 2 } });
    expect((await picked(6)).replaceAll('b', '')).to.have.length(4);
  });

  it('takes the first of the config that has room (priority)', async () => {
    team = await startTeam(policy('priority'), { a: { maxConcurrent: 2 } });
    team.simulator.faults.push('late ms=500'); // all of them are under way before the first one ends
    const slots = await Promise.all(Array.from({ length: 4 }, () => picked(1)));
    expect(slots.toSorted().join('')).to.equal('aabb');
  });
});
