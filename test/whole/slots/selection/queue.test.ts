import { expect } from 'chai';
import { ask, masterKey, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, inFlight } from '../../kit.js';

describe('the queue of a full slot', () => {
  let pair: Pair;
  afterEach(() => pair.close());

  async function startFull(queueTimeout: string) {
    const pipeline = stages({ with: { 'slot-pick': { queueTimeout } } });
    pair = await startPair({ pipeline }, {}, (url) => [slotAt(url, { maxConcurrent: 1 })]);
    return hold();
  }

  /** Takes the only place; what it returns gives it back. */
  async function hold(): Promise<() => void> {
    const leave = new AbortController();
    const response = await fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      body: JSON.stringify(ask('[[sim:stall after=5]]', { stream: true })),
      signal: leave.signal,
    });
    expect(response.status).to.equal(200);
    return () => leave.abort();
  }

  /** Resolves when so many wait. */
  async function untilQueued(count: number): Promise<void> {
    while (pair.gateway.services.slots.list()[0]!.queued < count)
      await new Promise((resolve) => setImmediate(resolve));
  }

  it('is served first come, first served, one at a time', async () => {
    const release = await startFull('5s');
    const texts = ['one', 'two', 'three', 'four'];
    const answers: Promise<Response>[] = [];
    for (const [at, text] of texts.entries()) {
      answers.push(pair.post('/v1/messages', ask(text)));
      await untilQueued(at + 1);
    }
    expect(callsTo(pair.simulator)).to.have.length(1);
    expect(inFlight(pair)).to.deep.equal([1]);
    release();
    for (const answer of answers) expect(await answer).to.have.property('status', 200);
    const asked = callsTo(pair.simulator).slice(1);
    expect(asked.map(({ text }) => texts.find((each) => text.includes(`"${each}"`)))).to.deep.equal(texts);
    await pair.gateway.exchanges.idle();
    expect(inFlight(pair)).to.deep.equal([0]);
  });

  it('is left after queueTimeout with 503', async () => {
    const release = await startFull('50ms');
    const error = await errorIn(await pair.post('/v1/messages', ask('Hello!')));
    expect(error).to.include({ status: 503, type: 'overloaded_error', code: 'no_slot_available' });
    expect(error.message).to.include('sonnet-5');
    release();
  });

  it('takes ten for each place, and sends the next one away at once', async () => {
    const release = await startFull('10s');
    const waiting = Array.from({ length: 10 }, () => pair.post('/v1/messages', ask('Hello!')));
    await untilQueued(10);
    const response = await pair.post('/v1/messages', ask('Hello!'));
    expect(await errorIn(response)).to.include({ status: 503, code: 'no_slot_available' });
    expect(response.headers.get('retry-after')).to.equal('1');
    release();
    for (const answer of await Promise.all(waiting)) expect(answer.status).to.equal(200);
  });

  it('does not lose a place to a caller that leaves it', async () => {
    const release = await startFull('5s');
    const leave = new AbortController();
    const left = fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      body: JSON.stringify(ask('I leave.')),
      signal: leave.signal,
    }).catch((error: unknown) => error);
    await untilQueued(1);
    const staying = pair.post('/v1/messages', ask('I stay.'));
    await untilQueued(2);
    leave.abort();
    await left;
    release();
    expect(await staying).to.have.property('status', 200);
    expect(callsTo(pair.simulator).some(({ text }) => text.includes('I leave.'))).to.equal(false);
  });

  it('is left at once where the operator pauses the slot', async () => {
    const release = await startFull('5s');
    const waiting = pair.post('/v1/messages', ask('Hello!'));
    await untilQueued(1);
    pair.gateway.services.slots.pause('a');
    const error = await errorIn(await waiting);
    expect(error).to.include({ status: 503, code: 'no_slot_available' });
    expect(error.message).to.match(/takes requests; tell the gateway's operator\.$/);
    release();
  });
});
