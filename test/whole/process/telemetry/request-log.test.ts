import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';

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

describe('the address in the log line of a request', () => {
  const forwardedBy = '203.0.113.9, 198.51.100.7';
  async function clientIn(listen: object, forwarded = forwardedBy): Promise<unknown> {
    const pair = await startPair({ listen: { host: '127.0.0.1', port: 0, ...listen } });
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-forwarded-for': forwarded })).text();
    await pair.gateway.exchanges.idle();
    await pair.close();
    return pair.logged.find(({ msg }) => msg === 'request')!['client'];
  }

  it('is that of the connection', async () => {
    expect(await clientIn({})).to.equal('127.0.0.1');
  });

  it('is the one that a trusted proxy has added', async () => {
    expect(await clientIn({ trustProxy: true })).to.equal('198.51.100.7');
    expect(await clientIn({ trustProxy: true }, '192.0.2.1:5060')).to.equal('192.0.2.1');
    expect(await clientIn({ trustProxy: true }, ', [2001:db8::1]:5060, ')).to.equal('2001:db8::1');
  });

  it('is that of the N-th hop from the right, the first where there are fewer', async () => {
    const chain = '203.0.113.9, 198.51.100.7, 192.0.2.1';
    const found = [1, 2, 3, 9].map((trustProxy) => clientIn({ trustProxy }, chain));
    expect(await Promise.all(found)).to.deep.equal([
      '192.0.2.1',
      '198.51.100.7',
      '203.0.113.9',
      '203.0.113.9',
    ]);
  });

  it('is the first from the right that is in none of the trusted networks', async () => {
    const trustProxy = ['127.0.0.1', '192.0.2.0/24', '2001:db8::/32'];
    const chain = '10.0.0.9, 203.0.113.9, 192.0.2.77, 2001:db8::1';
    expect(await clientIn({ trustProxy }, chain)).to.equal('203.0.113.9');
    expect(await clientIn({ trustProxy }, '192.0.2.1, 2001:db8::1')).to.equal('192.0.2.1');
    expect(await clientIn({ trustProxy }, 'garbage, 192.0.2.1')).to.equal('garbage');
    expect(await clientIn({ trustProxy: ['0.0.0.0/0', '::/0'] }, chain)).to.equal('10.0.0.9');
  });

  it('is that of a connection from none of the trusted networks, whatever its headers say', async () => {
    expect(await clientIn({ trustProxy: ['192.0.2.0/24'] })).to.equal('127.0.0.1');
  });
});

describe('log.access: false', () => {
  it('leaves out the lines of requests, and keeps warnings', async () => {
    const pair = await startPair({ log: { access: false } });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    await (await pair.post('/v1/messages', ask('[[sim:500]]'))).text();
    await pair.gateway.exchanges.idle();
    await pair.close();
    expect(pair.logged.filter(({ msg }) => msg === 'request')).to.deep.equal([]);
    expect(pair.logged.filter(({ level }) => level === 'warn' || level === 'error')).not.to.deep.equal([]);
  });
});

describe('the log line of an operator’s act', () => {
  it('tells who did what to which slot, once it is done', async () => {
    const pair = await startPair();
    const paths = ['/admin/slots/a/pause', '/admin/slots/b/pause', '/admin/slots/a/resume', '/admin/reload'];
    for (const path of paths) await (await pair.post(path, {})).text();
    await (await pair.get('/admin/slots')).text();
    await pair.close();
    const lines = pair.logged.filter(({ msg }) => msg === 'An operator changed the gateway.');
    expect(lines.map(({ level, by, what, target }) => [level, by, what, target])).to.deep.equal([
      ['info', 'master', 'slot.pause', 'a'],
      ['info', 'master', 'slot.resume', 'a'],
      ['info', 'master', 'config.reload', undefined],
    ]);
  });
});
