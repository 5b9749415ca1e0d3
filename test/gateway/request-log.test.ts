import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from './harness.js';

describe('the log line of a request', () => {
  let pair: Pair;

  beforeEach(async () => {
    pair = await startPair();
  });
  afterEach(() => pair.close());

  function line(): object | undefined {
    return pair.logged.find(({ msg }) => msg === 'request');
  }

  it('has status 499 where the caller left before there was an answer', async () => {
    const leaving = new AbortController();
    const asked = fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey },
      body: JSON.stringify(ask('[[sim:hang]]')),
      signal: leaving.signal,
    }).catch((error: unknown) => error);
    await pair.simulator.nextRequest();
    leaving.abort();
    await Promise.all([asked, pair.gateway.exchanges.idle()]);
    expect(line()).to.include({ status: 499, outcome: 'abandoned' });
  });

  it('has the status of the answer where there was one', async () => {
    const answer = await pair.post('/v1/messages', {});
    await answer.text();
    await pair.gateway.exchanges.idle();
    expect(line()).to.include({ status: 400, outcome: 'completed' });
  });
});
