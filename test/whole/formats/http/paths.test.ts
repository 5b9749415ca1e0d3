import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, raw } from '../../kit.js';

describe('paths', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  const key = { 'x-api-key': masterKey };

  for (const path of ['/models', '/models/sonnet-5', '/meta', '/health']) {
    it(`are the same with and without /v1: ${path}`, async () => {
      const prefix = path === '/health' ? '' : '/v1';
      const [long, short] = await Promise.all([pair.get(prefix + path), pair.get(path)]);
      expect(long.status).to.equal(200);
      expect(await short.text()).to.equal(await long.text());
    });
  }

  it('count tokens with and without /v1', async () => {
    for (const path of ['/v1/messages/count_tokens', '/messages/count_tokens']) {
      const response = await pair.post(path, ask('Hello!', { max_tokens: undefined }));
      expect(await response.json()).to.have.keys('input_tokens');
    }
  });

  it('are matched without their query; that of a Messages caller goes upstream', async () => {
    const response = await pair.post('/v1/messages?beta=true&x=%20', ask('Hello!'));
    expect(response.status).to.equal(200);
    expect(callsTo(pair.simulator).at(-1)?.search).to.equal('?beta=true&x=%20');
    const chat = { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] };
    await pair.post('/v1/chat/completions?beta=true', chat);
    expect(callsTo(pair.simulator).at(-1)?.search).to.equal('');
    expect(await pair.get('/v1/models?limit=1000')).to.have.property('status', 200);
  });

  it('may end with a slash', async () => {
    expect(await pair.post('/v1/messages/', ask('Hello!'))).to.have.property('status', 200);
    expect(await pair.get('/v1/models/')).to.have.property('status', 200);
    expect(await pair.get('/health/')).to.have.property('status', 200);
  });

  for (const path of ['/', '/health', '/v1/meta', '/v1/models']) {
    it(`answer HEAD ${path}`, async () => {
      const head = await raw(pair.url + path, { method: 'HEAD', headers: key });
      const get = await raw(pair.url + path, { headers: key });
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect(head.headers['content-type']).to.equal(get.headers['content-type']);
    });
  }

  it('that nobody knows are 404, also for HEAD, as agent CLIs ask', async () => {
    expect(await errorIn(await pair.get('/nothing'))).to.include({ status: 404, code: 'not_found' });
    expect(await errorIn(await pair.post('/v1/embeddings', {}))).to.include({
      status: 404,
      code: 'not_found',
    });
    const { status, text } = await raw(`${pair.url}/api/hello`, { method: 'HEAD' });
    expect([status, text]).to.deep.equal([404, '']);
  });

  for (const [method, path, allow] of [
    ['GET', '/v1/messages', 'POST, OPTIONS'],
    ['GET', '/chat/completions', 'POST, OPTIONS'],
    ['PUT', '/v1/responses', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/v1/models', 'GET, HEAD, OPTIONS'],
    ['POST', '/health', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/responses/resp_1', 'DELETE, GET, HEAD, OPTIONS'],
    ['PUT', '/admin/reload', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/metrics', 'GET, HEAD, OPTIONS'],
  ] as const) {
    it(`say to ${method} ${path} what they take: ${allow}`, async () => {
      const response = await fetch(pair.url + path, { method, headers: key });
      const error = await errorIn(response);
      expect(error).to.include({ status: 405, type: 'invalid_request_error', code: 'method_not_allowed' });
      expect(response.headers.get('allow')).to.equal(allow);
    });
  }

  it('say what they take to OPTIONS, without a key', async () => {
    const response = await fetch(`${pair.url}/v1/messages`, { method: 'OPTIONS' });
    expect([response.status, response.headers.get('allow')]).to.deep.equal([204, 'POST, OPTIONS']);
  });

  it('that are odd are answered all the same', async () => {
    for (const path of [
      '//',
      '/%',
      '/v1/models/%E0%A4%A',
      '/v1//models',
      '/../admin/slots',
      '/v1/models/a%2Fb',
      '/?',
    ]) {
      const response = await socketAnswer(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}`);
      expect(response, path).to.match(/^HTTP\/1\.1 (200|404) /);
    }
  });

  it('may come with any host', async () => {
    for (const host of ['', '[', 'a b', '127.0.0.1:99999', 'x:y:z'])
      for (const path of ['/health?ready=1', '/v1/models?limit=1'])
        expect(
          await socketAnswer(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${masterKey}`),
          host,
        ).to.match(/^HTTP\/1\.1 200 /);
  });

  it('may be whole URLs', async () => {
    const head = `GET http://gateway.example/v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}`;
    expect(await socketAnswer(head)).to.match(/^HTTP\/1\.1 200 /);
  });

  /** What the gateway answers to a head that no HTTP client would send. */
  async function socketAnswer(head: string): Promise<string> {
    const socket = connect(Number(new URL(pair.url).port), '127.0.0.1');
    socket.end(`${head}\r\nconnection: close\r\n\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    await once(socket, 'close');
    return text;
  }
});
