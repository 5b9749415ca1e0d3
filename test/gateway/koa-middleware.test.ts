import { createGunzip } from 'node:zlib';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import {
  ask,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from './harness.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import { errorIn } from './kit.js';

describe('@koa/cors as a stage', () => {
  let pair: Pair;
  before(async () => {
    const cors = { use: '@koa/cors', with: { origin: 'https://app.example', exposeHeaders: ['x-gw-slot'] } };
    pair = await startPair({ pipeline: [cors, ...stages()] });
  });
  after(() => pair.close());

  const origin = { origin: 'https://app.example' };
  const preflight = {
    ...origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key, content-type',
  };

  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/models', '/messages', '/v1/usage'])
    it(`answers a browser's preflight of ${path}, which has no key`, async () => {
      const response = await fetch(pair.url + path, { method: 'OPTIONS', headers: preflight });
      expect(response.status).to.equal(204);
      expect(Object.fromEntries(response.headers)).to.include({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-headers': 'x-api-key, content-type',
      });
      expect(response.headers.get('access-control-allow-methods')).to.include('POST');
    });

  it('marks answers of every kind', async () => {
    const answers = await Promise.all([
      pair.post('/v1/messages', ask('Hello!'), origin),
      pair.post('/v1/messages', ask('Hello!', { stream: true }), origin),
      pair.get('/v1/models', origin),
      pair.get('/v1/nothing', origin),
      pair.post('/v1/models', {}, origin),
      pair.post('/v1/messages', ask('[[sim:400]]'), origin),
      fetch(`${pair.url}/v1/models`, { headers: origin }),
    ]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 404, 405, 400, 401]);
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin'), answer.url).to.equal('https://app.example');
      expect(answer.headers.get('access-control-expose-headers'), answer.url).to.equal('x-gw-slot');
    }
  });

  it('leaves errors what they are', async () => {
    const response = await pair.post('/v1/messages', ask('[[sim:429 retry-after=3]]'), origin);
    expect(await errorIn(response)).to.include({ status: 429, type: 'rate_limit_error' });
    expect(response.headers.get('retry-after')).to.equal('3');
    pair.gateway.slots.resume('a');
  });

  it('lets OPTIONS that are no preflight say what a path takes', async () => {
    const response = await fetch(`${pair.url}/v1/messages`, { method: 'OPTIONS', headers: origin });
    expect([response.status, response.headers.get('allow')]).to.deep.equal([204, 'POST, OPTIONS']);
  });
});

describe('koa-compress as a stage', () => {
  let upstream: HeldUpstream;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
    const compress = { use: 'koa-compress', with: { threshold: 0 } };
    under = await startGateway({ pipeline: [compress, ...stages()], slots: [slotAt(upstream.url)] });
  });
  afterEach(async () => {
    await upstream.close();
    await under.close();
  });

  async function post(body: object): Promise<IncomingMessage> {
    const headers = { 'x-api-key': masterKey, 'content-type': 'application/json', 'accept-encoding': 'gzip' };
    const sent = request(`${under.url}/v1/messages`, { method: 'POST', headers }).end(JSON.stringify(body));
    return ((await once(sent, 'response')) as [IncomingMessage])[0];
  }

  it('does not hold a stream back', async () => {
    const responding = post(ask('Hello!', { stream: true }));
    const answer = await upstream.next();
    const response = await responding;
    expect(response.headers).not.to.have.property('content-encoding');
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    while (!text.includes('content_block_delta')) await once(response, 'data');
    answer.say('And more.');
    while (!text.includes('And more.')) await once(response, 'data');
    answer.finish();
    await once(response, 'end');
    expect(text).to.include('event: message_stop');
  });

  it('compresses a whole answer', async () => {
    const responding = post(ask('Hello!'));
    (await upstream.next()).finish();
    const response = await responding;
    expect(response.headers['content-encoding']).to.equal('gzip');
    const chunks: Buffer[] = [];
    for await (const chunk of response.pipe(createGunzip()) as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).to.include({
      type: 'message',
      stop_reason: 'end_turn',
    });
  });
});
