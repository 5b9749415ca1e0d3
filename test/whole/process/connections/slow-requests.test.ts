import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';
import { readError } from '../../kit.js';
import { RawClient, head } from '../../raw-client.js';

const json = { 'content-type': 'application/json' };
const withKey = { ...json, 'x-api-key': masterKey };

describe('bodies that do not come', () => {
  let pair: Pair;
  let client: RawClient;
  before(async () => {
    pair = await startPair({ listen: { host: '127.0.0.1', port: 0, bodyIdleTimeout: '200ms' } });
  });
  after(() => pair.close());
  beforeEach(async () => void (client = await RawClient.open(pair.url)));
  afterEach(() => client.close());

  const lines: Readonly<Record<string, string>> = {
    'of a request with a length': head('POST /v1/messages', { ...withKey, 'content-length': 1000 }),
    'of a request in chunks': head('POST /v1/messages', { ...withKey, 'transfer-encoding': 'chunked' }),
    'of a compressed request': head('POST /v1/messages', {
      ...withKey,
      'content-length': 1000,
      'content-encoding': 'gzip',
    }),
    'of a login without a key': head('POST /api/panel/login', { ...json, 'content-length': 1000 }),
  };
  for (const [what, line] of Object.entries(lines)) {
    it(`are 408 ${what}`, async () => {
      client.send(`${line}\r\n`);
      const { status, headers, body } = await client.answer();
      expect(readError(status, body)).to.include({ status: 408, code: 'request_timeout' });
      expect(headers).to.include({ connection: 'close' });
      await client.closed;
    });

    if (what === 'of a compressed request') continue; // its first bytes say already that it is none
    it(`are 408 ${what}, also byte by byte`, async () => {
      client.send(`${line}\r\n`);
      const isChunked = line.includes('chunked');
      void client.trickle(isChunked ? '1\r\n \r\n' : ' ', 10);
      const { status } = await client.answer();
      expect(status).to.equal(408);
      await client.closed;
    });
  }

  it('hold no slot and nothing else once they are refused', async () => {
    client.send(`${lines['of a request with a length']}\r\n{"model"`);
    await client.answer();
    await pair.gateway.exchanges.idle();
    expect(pair.gateway.services.slots.list()[0]).to.include({ inFlight: 0, queued: 0 });
  });
});

describe('an answer that comes before its body', () => {
  let pair: Pair;
  let client: RawClient;
  before(async () => {
    const pipeline = [
      { use: 'auth' },
      { use: 'body-limit', with: { limit: 1000 } },
      { use: 'format-decode' },
      { use: 'slot-pick' },
      { use: 'upstream-call' },
      { use: 'format-encode' },
    ];
    pair = await startPair({ pipeline });
  });
  after(() => pair.close());
  beforeEach(async () => void (client = await RawClient.open(pair.url)));
  afterEach(() => client.close());

  const size = 20_000_000;
  const answers: Readonly<Record<string, readonly [line: string, status: number]>> = {
    'no key': [head('POST /v1/messages', { ...json, 'content-length': size }), 401],
    'no path': [head('POST /nowhere', { ...withKey, 'content-length': size }), 404],
    'another method': [head('PUT /v1/messages', { ...withKey, 'content-length': size }), 405],
    'too large': [head('POST /v1/messages', { ...withKey, 'content-length': size }), 413],
    'another type': [head('POST /v1/messages', { 'x-api-key': masterKey, 'content-length': size }), 415],
    'a login that is too large': [head('POST /api/panel/login', { ...json, 'content-length': size }), 413],
    'health, which takes no body': [head('GET /health', { 'content-length': size }), 200],
  };
  for (const [what, [line, status]] of Object.entries(answers))
    it(`reaches a client that writes all of it before it reads: ${what} is ${status}`, async () => {
      client.socket.pause();
      await new Promise((resolve) => client.socket.write(`${line}\r\n${'x'.repeat(size)}`, resolve));
      client.socket.resume();
      const answer = await client.answer();
      expect(answer.status).to.equal(status);
      expect(answer.headers).to.include({ connection: 'close' });
      await client.closed;
      expect(client.error).to.equal(undefined);
    });

  it('ends the connection in a while, though the rest never comes', async () => {
    client.send(`${answers['no key']![0]}\r\n`);
    expect(await client.answer()).to.have.property('status', 401);
    await client.closed;
  });

  it('ends the connection in a while, though the rest never ends', async () => {
    client.send(`${head('POST /v1/messages', { ...json, 'transfer-encoding': 'chunked' })}\r\n`);
    expect(await client.answer()).to.have.property('status', 401);
    await client.trickle('1\r\n \r\n', 100);
  }).timeout(60_000);

  it('is the last one: what follows on its connection is no request', async () => {
    const before = pair.simulator.requests.length;
    const body = JSON.stringify(ask('Hello!'));
    const second = `${head('POST /v1/messages', { ...withKey, 'content-length': body.length })}\r\n${body}`;
    client.send(`${head('POST /v1/messages', { ...json, 'content-length': 5 })}\r\n`);
    expect(await client.answer()).to.have.property('status', 401);
    client.send(`12345${second}`);
    await client.closed;
    expect(client.received.match(/HTTP\/1\.1/g)).to.have.length(1);
    expect(pair.simulator.requests).to.have.length(before);
  });

  it('keeps the connection where the body has come', async () => {
    client.send(`${head('POST /nowhere', { ...withKey, 'content-length': 2 })}\r\n{}`);
    expect(await client.answer()).to.have.property('status', 404);
    client.received = '';
    client.send(`${head('GET /health')}\r\n`);
    expect(await client.answer()).to.have.property('status', 200);
  });
});

describe('a client that asks before it sends', () => {
  let pair: Pair;
  let client: RawClient;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());
  beforeEach(async () => void (client = await RawClient.open(pair.url)));
  afterEach(() => client.close());

  const body = JSON.stringify(ask('Hello!'));
  const expecting = { expect: '100-continue', 'content-length': body.length };

  it('is told to go on once its key has been checked', async () => {
    client.send(`${head('POST /v1/messages', { ...withKey, ...expecting })}\r\n`);
    await client.hears('HTTP/1.1 100 Continue\r\n\r\n');
    client.received = '';
    client.send(body);
    expect(await client.answer()).to.have.property('status', 200);
  });

  for (const [what, line, status] of [
    ['without a key', head('POST /v1/messages', { ...json, ...expecting }), 401],
    ['with a wrong key', head('POST /v1/messages', { ...json, 'x-api-key': 'wrong', ...expecting }), 401],
    ['at a path that there is not', head('POST /nowhere', { ...withKey, ...expecting }), 404],
    ['with too much', head('POST /v1/messages', { ...withKey, ...expecting, 'content-length': 1e9 }), 413],
  ] as const)
    it(`is not told to go on ${what}`, async () => {
      client.send(`${line}\r\n`);
      expect(await client.answer()).to.have.property('status', status);
      await client.closed;
      expect(client.received).not.to.include('100 Continue');
    });
});

describe('connections', () => {
  it('beyond maxConnections are closed at once, and counted', async () => {
    const pair = await startPair({ listen: { host: '127.0.0.1', port: 0, maxConnections: 2 } });
    const clients = [await RawClient.open(pair.url), await RawClient.open(pair.url)];
    for (const client of clients) {
      client.send(`${head('GET /health')}\r\n`);
      expect(await client.answer()).to.have.property('status', 200);
    }
    const refused = await RawClient.open(pair.url);
    await refused.closed;
    expect(refused.received).to.equal('');
    const [first, second] = clients as [RawClient, RawClient];
    first.received = '';
    first.send(`${head('GET /metrics', { 'x-api-key': masterKey })}\r\n`);
    await first.hears('gw2api_connections_refused_total 1');
    expect(first.received).to.match(/^gw2api_connections_open 2$/m);
    second.close();
    await second.closed;
    first.close();
    await first.closed;
    await pair.close();
  });
});
