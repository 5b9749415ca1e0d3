import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, only, startTeam, stateOf } from '../../kit.js';
import { clockAt } from '../../../clock-at.js';

interface SlotReport {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly until: string | null;
  readonly cooling_models: readonly { model: string; reason: string; until: string }[];
  readonly last_error: string | null;
}

describe('a cooldown', () => {
  let team: Pair;
  let nowMs: number;
  const start = Date.UTC(2026, 0, 1);
  const pipeline = stages({ with: { 'slot-pick': { policy: 'priority' } } });
  beforeEach(async () => {
    nowMs = start;
    team = await startTeam({ pipeline }, {}, { clock: clockAt(() => nowMs) });
  });
  afterEach(() => team.close());

  async function report(id = 'a'): Promise<SlotReport> {
    const { data } = (await (await team.get('/admin/slots')).json()) as { data: readonly SlotReport[] };
    return data.find((slot) => slot.id === id)!;
  }

  /** For how long slot a cools down, in seconds, and why. */
  async function cooling(): Promise<unknown> {
    const { state, reason, until, cooling_models: models } = await report();
    const left = (time: string | null) => (time === null ? null : (Date.parse(time) - nowMs) / 1000);
    return {
      state,
      ...(reason && { reason, for: left(until) }),
      ...(models.length > 0 && {
        models: models.map(({ model, reason, until }) => [model, reason, left(until)]),
      }),
    };
  }

  async function slotOf(fields: object = {}): Promise<string | null> {
    const response = await team.post('/v1/messages', ask('Hello!', fields));
    await response.text();
    return response.headers.get('x-gw-slot');
  }

  for (const [fault, expected] of [
    ['429 retry-after=7', { state: 'ready', models: [['sonnet-5', 'rate_limited', 7]] }],
    ['429 retry-after-ms=2500', { state: 'ready', models: [['sonnet-5', 'rate_limited', 2.5]] }],
    ['429', { state: 'ready', models: [['sonnet-5', 'rate_limited', 30]] }],
    ['529', { state: 'ready', models: [['sonnet-5', 'overloaded', 5]] }],
    ['503', { state: 'ready', models: [['sonnet-5', 'overloaded', 5]] }],
    ['error after=1', { state: 'ready', models: [['sonnet-5', 'overloaded', 5]] }],
    ['reset', { state: 'cooling', reason: 'unreachable', for: 2 }],
    ['window-exhausted in=600', { state: 'cooling', reason: 'window_exhausted', for: 600 }],
    ['window-exhausted window=7d in=86400', { state: 'cooling', reason: 'window_exhausted', for: 86_400 }],
    ['401', { state: 'rejected' }],
    ['500', { state: 'ready' }],
    ['502', { state: 'ready' }],
    ['504', { state: 'ready' }],
    ['html', { state: 'ready' }],
    ['empty', { state: 'ready' }],
    ['cut after=1', { state: 'ready' }],
    ['400', { state: 'ready' }],
    ['403', { state: 'ready' }],
    ['404', { state: 'ready' }],
    ['413', { state: 'ready' }],
  ] as const) {
    it(`of a slot after "${fault}" is ${JSON.stringify(expected)}`, async () => {
      team.simulator.faults.push(only('a', fault));
      await slotOf();
      expect(await cooling()).to.deep.equal(expected);
      expect(stateOf(team, 'b')).to.equal('ready');
    });
  }

  it('begins where a good answer says that the window is used up', async () => {
    team.simulator.faults.push(only('a', 'windows status=rejected'));
    expect(await slotOf()).to.equal('a');
    expect(await cooling()).to.deep.include({ state: 'cooling', reason: 'window_exhausted' });
    expect(await slotOf()).to.equal('b');
  });

  it('keeps the slot from being asked until it is over', async () => {
    team.simulator.faults.push(only('a', '429 retry-after=7 times=1'));
    expect(await slotOf()).to.equal('b');
    expect(await slotOf()).to.equal('b');
    nowMs += 6999;
    expect(await slotOf()).to.equal('b');
    expect(callsTo(team.simulator).filter(({ credential }) => credential.endsWith('a'))).to.have.length(1);
    nowMs += 1;
    expect(await slotOf()).to.equal('a');
    expect(await cooling()).to.deep.equal({ state: 'ready' });
  });

  it('of a rate limit or an overload holds for the one model', async () => {
    team.simulator.faults.push(only('a', '429 retry-after=60 times=1'));
    expect(await slotOf()).to.equal('b');
    expect(await slotOf({ model: 'haiku-5' })).to.equal('a');
    expect(await slotOf()).to.equal('b');
  });

  for (const [fault, seconds] of [
    ['429', [30, 60, 120, 240, 480, 600, 600]],
    ['529', [5, 10, 20, 40, 80, 120, 120]],
    ['reset', [2, 4, 8, 16, 32, 60, 60]],
  ] as const) {
    it(`doubles for each further "${fault}" up to ${seconds.at(-1)} s, and a success resets it`, async () => {
      team.simulator.faults.push(only('a', fault));
      const lasted: number[] = [];
      for (const _ of seconds) {
        await slotOf();
        const { until, cooling_models: models } = await report();
        const untilMs = Date.parse((until ?? models[0]?.until)!);
        lasted.push((untilMs - nowMs) / 1000);
        nowMs = untilMs;
      }
      expect(lasted).to.deep.equal(seconds);
      team.simulator.faults.pop();
      expect(await slotOf()).to.equal('a');
      team.simulator.faults.push(only('a', fault));
      await slotOf();
      const { until, cooling_models: models } = await report();
      expect((Date.parse((until ?? models[0]?.until)!) - nowMs) / 1000).to.equal(seconds[0]);
    });
  }

  it('of a hundred calls that fail together is one', async () => {
    team.simulator.faults.push(only('a', '529'), 'late ms=20');
    await Promise.all(Array.from({ length: 30 }, () => slotOf()));
    expect(await cooling()).to.deep.equal({ state: 'ready', models: [['sonnet-5', 'overloaded', 5]] });
  });

  it('is left by resume', async () => {
    team.simulator.faults.push(only('a', '401 times=1'));
    expect(await slotOf()).to.equal('b');
    expect(stateOf(team, 'a')).to.equal('rejected');
    expect((await report()).last_error).to.equal('invalid x-api-key');
    expect(await slotOf()).to.equal('b');
    await team.post('/admin/slots/a/resume', {});
    expect(stateOf(team, 'a')).to.equal('ready');
    expect((await report()).last_error).to.equal(null);
    expect(await slotOf()).to.equal('a');
  });

  describe('where no other slot serves the model', () => {
    let alone: Pair;
    beforeEach(async () => {
      alone = await startPair({ pipeline }, { clock: clockAt(() => nowMs) });
    });
    afterEach(() => alone.close());

    it('does not keep it from being tried: the answer is passed on', async () => {
      alone.simulator.faults.push('429 retry-after=60 times=2');
      for (const calls of [1, 2]) {
        const response = await alone.post('/v1/messages', ask('Hello!'));
        expect(await errorIn(response)).to.include({ status: 429, type: 'rate_limit_error' });
        expect(response.headers.get('retry-after')).to.equal('60');
        expect(callsTo(alone.simulator)).to.have.length(calls);
      }
      expect(await alone.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
    });

    it('is asked by one request a minute where its provider has named a longer wait', async () => {
      const five = async () => {
        const posted = Array.from({ length: 5 }, () => alone.post('/v1/messages', ask('Hello!')));
        const answers = await Promise.all(posted);
        const errors = await Promise.all(answers.map(errorIn));
        for (const error of errors) expect(error).to.include({ status: 429, type: 'rate_limit_error' });
        return answers.map(({ headers }) => headers.get('retry-after'));
      };
      alone.simulator.faults.push('429 retry-after=3600');
      const first = await alone.post('/v1/messages', ask('Hello!'));
      expect([first.status, first.headers.get('retry-after')]).to.deep.equal([429, '3600']);
      nowMs += 59_999;
      expect(await five()).to.deep.equal(['3541', '3541', '3541', '3541', '3541']);
      expect(callsTo(alone.simulator)).to.have.length(1);
      nowMs += 1;
      expect((await five()).filter((left) => left !== '3540')).to.deep.equal(['3600']);
      expect(callsTo(alone.simulator)).to.have.length(2);
      alone.simulator.faults.pop();
      nowMs += 60_000;
      for (const calls of [3, 4]) {
        expect(await alone.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
        expect(callsTo(alone.simulator)).to.have.length(calls);
      }
    });

    it('names neither the slot nor a cause to those who are not let through', async () => {
      alone.simulator.faults.push('429 retry-after=3600');
      await (await alone.post('/v1/messages', ask('Hello!'))).text();
      const { code, message } = await errorIn(await alone.post('/v1/messages', ask('Hello!')));
      expect(code).to.equal('rate_limited');
      expect(message).to.equal(
        'The provider of the model "sonnet-5" limits its requests until 2026-01-01T01:00:00.000Z.',
      );
    });

    it('is answered here where the window is used up, with the time until it opens', async () => {
      alone.simulator.faults.push('window-exhausted in=3600 times=1');
      expect(await errorIn(await alone.post('/v1/messages', ask('Hello!')))).to.include({ status: 429 });
      nowMs += 600_000;
      const response = await alone.post('/v1/messages', ask('Hello!'));
      const error = await errorIn(response);
      expect(error).to.include({ status: 429, type: 'rate_limit_error', code: 'rate_limited' });
      expect(response.headers.get('retry-after')).to.equal('3000');
      expect(callsTo(alone.simulator)).to.have.length(1);
      nowMs += 3_000_000;
      expect(await alone.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
    });

    it('sends once more on a new connection what an old one has lost', async () => {
      expect(await alone.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
      await alone.gateway.exchanges.idle();
      alone.simulator.faults.push('reset times=1');
      const response = await alone.post('/v1/messages', ask('Hello!'));
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-gw-attempts')).to.equal('1');
      expect(stateOf(alone, 'a')).to.equal('ready');
    });
  });

  it('of an upstream that nobody answers at is one of the whole slot', async () => {
    const under = await startTeam({ pipeline }, { a: { baseUrl: 'http://127.0.0.1:9' } });
    const response = await under.post('/v1/messages', ask('Hello!'));
    expect(response.headers.get('x-gw-slot')).to.equal('b');
    expect(stateOf(under, 'a')).to.equal('cooling');
    await under.close();
  });

  it('of a name that no server knows is one too', async () => {
    const under = await startTeam({ pipeline }, { a: { baseUrl: 'http://upstream.invalid' } });
    const response = await under.post('/v1/messages', ask('Hello!'));
    expect(response.headers.get('x-gw-slot')).to.equal('b');
    expect(stateOf(under, 'a')).to.equal('cooling');
    await under.close();
  });
});
