import { expect } from 'chai';
import { ask, eventsIn, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, inFlight, only, startTeam, stateOf } from '../../kit.js';

describe('failover', () => {
  let team: Pair;
  beforeEach(async () => {
    const patience = { firstTokenTimeout: '1s', idleTimeout: '1s' };
    const calls = { 'slot-pick': { policy: 'priority' }, 'upstream-call': patience };
    team = await startTeam({ pipeline: stages({ with: calls }) });
  });
  afterEach(() => team.close());

  /** Which slots were asked, in order. */
  function asked(): readonly string[] {
    return callsTo(team.simulator).map(({ credential }) => credential.slice(-1));
  }

  const curable = [
    '401',
    '429',
    '500',
    '502',
    '503',
    '504',
    '529',
    'window-exhausted',
    'reset',
    'html',
    'empty',
    'end after=0',
    'end after=1',
    'cut after=0',
    'cut after=1',
    'cut after=3',
    'error after=1',
    'error after=1 type=api_error',
    'not-json after=1',
    'stall after=1',
    'hang',
  ];
  /** Faults after which the same slot is asked once more. */
  const repeated = new Set(['500', '502', '504', 'error after=1 type=api_error']);
  for (const fault of curable) {
    for (const stream of [true, false]) {
      it(`cures "${fault}" by another slot before the commit point (stream: ${stream})`, async () => {
        team.simulator.faults.push(only('a', fault));
        const response = await team.post('/v1/messages', ask('Hello!', { stream }));
        expect(response.status).to.equal(200);
        expect(response.headers.get('x-gw-slot')).to.equal('b');
        const path = repeated.has(fault) ? ['a', 'a', 'b'] : ['a', 'b'];
        expect(response.headers.get('x-gw-attempts')).to.equal(String(path.length));
        expect(await response.text()).to.include('message');
        expect(asked()).to.deep.equal(path);
        await team.gateway.exchanges.idle();
        expect(inFlight(team)).to.deep.equal([0, 0]);
      });
    }
  }

  for (const fault of [
    'cut after=12',
    'end after=12',
    'error after=12',
    'not-json after=12',
    'stall after=12',
  ]) {
    it(`cures "${fault}" for a whole answer, of which nothing has been sent`, async () => {
      team.simulator.faults.push(only('a', fault), 'slow ms=1');
      for (const path of ['/v1/messages', '/v1/chat/completions']) {
        const response = await team.post(path, ask('[[sim:tokens n=20]]', { max_tokens: 100 }));
        expect(response.headers.get('x-gw-slot')).to.equal('b');
        expect(await response.text()).to.include(' tok'.repeat(20));
        team.gateway.services.slots.resume('a');
      }
      expect(asked()).to.deep.equal(['a', 'b', 'a', 'b']);
    });

    it(`cures "${fault}" for a stream with x-gw-delivery: verified`, async () => {
      team.simulator.faults.push(only('a', fault), 'slow ms=1');
      const verified = { 'x-gw-delivery': 'verified' };
      const response = await team.post(
        '/v1/messages',
        ask('[[sim:tokens n=20]]', { stream: true }),
        verified,
      );
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect(await response.text()).to.include(' tok'.repeat(20));
      expect(asked()).to.deep.equal(['a', 'b']);
    });

    it(`never replays a stream that "${fault}" has broken`, async () => {
      team.simulator.faults.push(only('a', fault), 'slow ms=1');
      const response = await team.post('/v1/chat/completions', ask('[[sim:tokens n=20]]', { stream: true }));
      expect(response.headers.get('x-gw-slot')).to.equal('a');
      const events = eventsIn(await response.text());
      expect(events.at(-1)).to.have.property('error');
      expect(asked()).to.deep.equal(['a']);
    });
  }

  for (const status of [400, 403, 404, 413]) {
    it(`passes ${status} on: it is about the request`, async () => {
      team.simulator.faults.push(only('a', String(status)));
      const response = await team.post('/v1/messages', ask('Hello!'));
      expect((await errorIn(response)).status).to.equal(status);
      expect(response.headers.get('x-gw-slot')).to.equal('a');
      expect(asked()).to.deep.equal(['a']);
    });
  }

  it('sends the very same request', async () => {
    team.simulator.faults.push(only('a', '529'));
    await team.post('/v1/messages', ask('Hello!', { system: 'Be brief.', metadata: { user_id: 'u' } }));
    const [first, second] = callsTo(team.simulator);
    expect(second!.text).to.equal(first!.text);
  });

  it('tries each slot once, then the first again, while attempts last; the last error is told', async () => {
    team.simulator.faults.push(
      only('a', '529 message="a is broken"'),
      only('b', '529 message="b is broken"'),
    );
    const response = await team.post('/v1/messages', ask('Hello!'));
    expect(await errorIn(response)).to.include({ status: 529, message: 'a is broken' });
    expect(response.headers.get('x-gw-attempts')).to.equal('3');
    expect(response.headers.get('x-gw-slot')).to.equal('a');
    expect(asked()).to.deep.equal(['a', 'b', 'a']);
    await team.gateway.exchanges.idle();
    expect(inFlight(team)).to.deep.equal([0, 0]);
  });

  it('does not ask a slot again that has said when', async () => {
    team.simulator.faults.push('429 retry-after=5');
    const response = await team.post('/v1/messages', ask('Hello!'));
    expect(await errorIn(response)).to.include({ status: 429 });
    expect(response.headers.get('retry-after')).to.equal('5');
    expect(response.headers.get('x-gw-attempts')).to.equal('2');
    expect(asked()).to.deep.equal(['a', 'b']);
  });

  it('is bounded by attempts', async () => {
    const calls = { 'slot-pick': { policy: 'priority' }, 'upstream-call': { attempts: 1 } };
    const one = await startTeam({ pipeline: stages({ with: calls }) });
    one.simulator.faults.push(only('a', '529'));
    const response = await one.post('/v1/messages', ask('Hello!'));
    expect(await errorIn(response)).to.include({ status: 529 });
    expect(callsTo(one.simulator)).to.have.length(1);
    await one.gateway.exchanges.idle();
    expect(inFlight(one)).to.deep.equal([0, 0]);
    await one.close();
  });

  it('is not seen by what fans a request out, and each call counts', async () => {
    team.simulator.faults.push(only('a', '529'));
    const body = { model: 'sonnet-5', n: 3, messages: [{ role: 'user', content: 'Hello!' }] };
    const response = await team.post('/v1/chat/completions', body);
    const { choices } = (await response.json()) as { choices: readonly object[] };
    expect(choices).to.have.length(3);
    expect(response.headers.get('x-gw-attempts')).to.equal('6');
    expect(asked().toSorted().join('')).to.equal('aaabbb');
  });

  for (const [session, slots] of [
    ['that is bound to it', ['a', 'a']],
    ['of its own', ['a', 'b']],
  ] as const) {
    it(`asks a slot again after the time that it names, for a session ${session}`, async () => {
      const headers: Record<string, string> = slots[1] === 'a' ? { 'x-session-id': 's' } : {};
      await (await team.post('/v1/messages', ask('Hello!'), headers)).text();
      const before = asked().length;
      team.simulator.faults.push(only('a', '429 retry-after-ms=300 times=1'));
      const startMs = performance.now();
      const response = await team.post('/v1/messages', ask('Hello!'), headers);
      expect(response.status).to.equal(200);
      expect(asked().slice(before)).to.deep.equal(slots);
      if (slots[1] === 'a') expect(performance.now() - startMs).to.be.at.least(290);
    });
  }

  for (const [fault, least] of [
    ['429 retry-after-ms=300 times=1', 290],
    ['500 times=1', 0],
  ] as const) {
    it(`asks the only slot again after "${fault}"`, async () => {
      const alone = await startPair();
      alone.simulator.faults.push(fault);
      const startMs = performance.now();
      const response = await alone.post('/v1/messages', ask('Hello!'));
      expect([response.status, response.headers.get('x-gw-attempts')]).to.deep.equal([200, '2']);
      expect(performance.now() - startMs).to.be.at.least(least);
      await alone.close();
    });
  }

  for (const [what, timeouts, state] of [
    ['no byte', { headersTimeout: '200ms', firstTokenTimeout: '200ms' }, 'cooling'],
    ['no content', { headersTimeout: '10s', firstTokenTimeout: '200ms' }, 'ready'],
  ] as const) {
    it(`leaves a slot ${state} that has sent ${what} in time`, async () => {
      const calls = { 'slot-pick': { policy: 'priority' }, 'upstream-call': timeouts };
      const impatient = await startTeam({ pipeline: stages({ with: calls }) });
      impatient.simulator.faults.push(only('a', 'hang'));
      const response = await impatient.post('/v1/messages', ask('Hello!'));
      expect(response.headers.get('x-gw-slot')).to.equal('b');
      expect(stateOf(impatient, 'a')).to.equal(state);
      await response.text();
      await impatient.close();
    });
  }
});
