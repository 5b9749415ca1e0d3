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
    expect(line()).to.include({ status: 400, outcome: 'completed', code: 'invalid_request' });
  });

  it('has the code of every error that was an answer, be it the upstream’s own', async () => {
    await (await pair.get('/v1/models', { 'x-api-key': 'wrong' })).text();
    await (await pair.post('/v1/messages', ask('[[sim:429]]'))).text();
    await pair.gateway.exchanges.idle();
    const lines = pair.logged.filter(({ msg }) => msg === 'request');
    expect(lines.map(({ status, code }) => [status, code])).to.deep.equal([
      [401, 'invalid_api_key'],
      [429, 'rate_limit_error'],
    ]);
  });

  it('has the name that the upstream gave the request', async () => {
    const answer = await pair.post('/v1/messages', ask('Hi'));
    await answer.text();
    await pair.gateway.exchanges.idle();
    expect(line()).to.include({ upstreamRequestId: answer.headers.get('request-id') });
    expect(line()).to.have.property('upstreamRequestId').that.matches(/^req_/);
    expect(line()).to.have.property('code', undefined);
  });
});

describe('the log line of an operator’s act', () => {
  it('tells who did what to which slot, once it is done', async () => {
    const pair = await startPair();
    const paths = ['/admin/slots/a/pause', '/admin/slots/b/pause', '/admin/slots/a/resume', '/admin/reload'];
    for (const path of paths) await (await pair.post(path, {})).text();
    await (await pair.get('/admin/slots')).text();
    await pair.close();
    const lines = pair.logged.filter(({ msg }) => msg === 'An operator has changed the gateway.');
    expect(lines.map(({ level, by, what, slot }) => [level, by, what, slot])).to.deep.equal([
      ['info', 'master', 'pause', 'a'],
      ['info', 'master', 'resume', 'a'],
      ['info', 'master', 'reload', undefined],
    ]);
  });
});
