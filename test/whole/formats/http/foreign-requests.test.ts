import { setImmediate as immediate } from 'node:timers/promises';
import { expect } from 'chai';
import { errorCodes } from '#src/plugin/contract/error.js';
import { startPair, type Pair } from '../../harness.js';
import { readError } from '../../kit.js';
import { RawClient, head } from '../../raw-client.js';

describe('requests that are no HTTP', () => {
  let pair: Pair;
  let client: RawClient;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());
  beforeEach(async () => void (client = await RawClient.open(pair.url)));
  afterEach(() => client.close());

  const cases: Readonly<Record<string, readonly [text: string, code: keyof typeof errorCodes]>> = {
    'a method that there is not': ['NONSENSE / HTTP/1.1\r\nhost: x\r\n\r\n', 'invalid_request'],
    'no HTTP at all': ['\u0016\u0003\u0001 a TLS hello\r\n\r\n', 'invalid_request'],
    'a preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'invalid_request'],
    'a header name with a blank': ['GET / HTTP/1.1\r\nhost: x\r\na b: 1\r\n\r\n', 'invalid_request'],
    'a control character in a header': ['GET / HTTP/1.1\r\nhost: x\r\na: \u0001\r\n\r\n', 'invalid_request'],
    'two lengths': [
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      'invalid_request',
    ],
    'a length and chunks': [
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'invalid_request',
    ],
    'no host': ['GET /health HTTP/1.1\r\n\r\n', 'invalid_request'],
    'headers of 20 kB': [`${head('GET /health', { x: 'y'.repeat(20_000) })}\r\n`, 'headers_too_large'],
    'an expectation that nobody knows': [
      `${head('POST /v1/messages', { expect: 'a miracle', 'content-length': 2 })}\r\n`,
      'expectation_failed',
    ],
    'a tunnel to elsewhere': [
      'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n',
      'method_not_allowed',
    ],
  };
  for (const [what, [text, code]] of Object.entries(cases))
    it(`are answered by the error object: ${what} is ${errorCodes[code].status} ${code}`, async () => {
      client.send(Buffer.from(text, 'latin1'));
      await expectRefusal(client, code);
    });

  it('do no harm where the connection is reset after the answer', async () => {
    for (const [text] of Object.values(cases)) {
      const other = await RawClient.open(pair.url);
      other.send(Buffer.from(text, 'latin1'));
      await other.hears('\r\n\r\n');
      other.socket.resetAndDestroy();
      await other.closed;
    }
    while (pair.gateway.listeners.openConnections > 1) await immediate(); // `client` is left
  });

  it('do not break into an answer that has begun', async () => {
    const body = JSON.stringify({
      model: 'sonnet-5',
      stream: true,
      max_tokens: 99,
      messages: [{ role: 'user', content: '[[sim:stall after=5]]' }],
    });
    const json = { 'x-api-key': 'test-master-key', 'content-type': 'application/json' };
    client.send(`${head('POST /v1/messages', { ...json, 'content-length': body.length })}\r\n${body}`);
    await client.hears('message_start');
    client.send('NONSENSE\r\n\r\n');
    await client.closed;
    expect(client.received.match(/^HTTP\/1\.1 \d/gm)).to.have.length(1);
    await pair.gateway.exchanges.idle();
    expect(pair.gateway.services.slots.list()[0]).to.include({ inFlight: 0 });
  });
});

describe('headers that do not come', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair({ listen: { host: '127.0.0.1', port: 0, headersTimeout: '50ms' } });
  });
  after(() => pair.close());

  for (const [what, text] of [
    ['none at all', ''],
    ['half of them', head('GET /health')],
  ] as const)
    it(`are 408: ${what}`, async () => {
      const client = await RawClient.open(pair.url);
      if (text !== '') client.send(text);
      await expectRefusal(client, 'request_timeout');
    });
});

/** The one answer is the error object, in full, and the connection ends with it. */
async function expectRefusal(client: RawClient, code: keyof typeof errorCodes): Promise<void> {
  const { status, headers, body } = await client.answer();
  expect(headers).to.include({
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  expect(readError(status, body)).to.include({ ...errorCodes[code], code });
  await client.closed;
  expect(client.received.match(/^HTTP\/1\.1 \d/gm)).to.have.length(1);
}

describe('every answer', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  for (const path of [
    '/health',
    '/v1/models',
    '/nowhere',
    '/panel',
    '/openapi.json',
    '/metrics',
    '/admin/slots',
  ])
    it(`of ${path} says that its type is what it says`, async () => {
      const { headers } = await pair.get(path);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    });

  for (const stream of [true, false])
    it(`of a model says so, ${stream ? 'streamed' : 'whole'}`, async () => {
      const fields = {
        model: 'sonnet-5',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hello!' }],
        stream,
      };
      const response = await pair.post('/v1/messages', fields);
      await response.text();
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    });
});
