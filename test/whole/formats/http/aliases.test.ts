import { WebSocket } from 'ws';
import { once } from 'node:events';
import { expect } from 'chai';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, lastCall } from '../../kit.js';

describe('aliases of paths', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  const chat = { messages: [{ role: 'user', content: 'Hi' }] };
  const named = { model: 'sonnet-5', ...chat };

  for (const path of [
    '/anthropic/v1/messages?beta=true',
    '/api/anthropic/v1/messages',
    '/anthropic/v1/v1/messages',
    '/v1/v1/messages',
    '//v1/messages',
    '/v1//messages',
    '/api/v1/messages',
  ])
    it(`serve a Messages request at ${path}`, async () => {
      const answer = await pair.post(path, ask('Hi'));
      expect(answer.status).to.equal(200);
      expect(await answer.json()).to.include({ type: 'message', model: 'sonnet-5' });
    });

  for (const path of ['/openai/v1/chat/completions', '/openai/chat/completions', '/api/v1/chat/completions'])
    it(`serve a Chat request at ${path}`, async () => {
      expect((await pair.post(path, named)).status).to.equal(200);
    });

  it('take the model of a deployment, whatever the body says', async () => {
    const path = '/openai/deployments/sonnet-5/chat/completions?api-version=2024-10-21';
    for (const model of [undefined, null, 'other']) {
      const answer = await pair.post(path, { ...chat, model }, { 'api-key': masterKey, authorization: '' });
      expect([answer.status, ((await answer.json()) as { model: string }).model]).to.deep.equal([
        200,
        'sonnet-5',
      ]);
      expect(lastCall(pair.simulator)).to.have.property('model', 'sonnet-5');
      expect(callsTo(pair.simulator).at(-1)).to.have.property('search', '');
    }
    const list = await pair.post('/openai/deployments/sonnet-5/chat/completions', [chat]);
    expect(await errorIn(list)).to.include({ status: 400, code: 'invalid_request' });
  });

  it('serve the models, and a WebSocket', async () => {
    for (const path of ['/anthropic/v1/models', '/api/v1/models', '/openai/models/sonnet-5', '//models'])
      expect((await pair.get(path)).status, path).to.equal(200);
    const url = `${pair.url.replace('http', 'ws')}/openai/v1/responses`;
    const socket = new WebSocket(url, { headers: { 'x-api-key': masterKey } });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'sonnet-5', input: 'Hi' }));
    const [first] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(first.toString())).to.include({ type: 'response.created' });
    socket.close();
    await once(socket, 'close');
  });

  it('serve probes without a key', async () => {
    for (const path of ['/healthz', '/readyz', '/health/liveliness', '/health/readiness'])
      expect((await fetch(pair.url + path)).status, path).to.equal(200);
    expect(await (await fetch(`${pair.url}/readyz`)).json()).to.include({ status: 'ok' });
  });

  it('need a key where their route needs one', async () => {
    const answer = await fetch(`${pair.url}/anthropic/v1/models`);
    expect(await errorIn(answer)).to.include({ status: 401, code: 'missing_api_key' });
  });

  it('say which methods their route takes', async () => {
    const error = await errorIn(await pair.get('/anthropic/v1/messages'));
    expect(error).to.include({ status: 405, code: 'method_not_allowed' });
  });

  for (const path of [
    '//metrics',
    '/anthropic/metrics',
    '//admin/slots',
    '/openai/admin/slots',
    '//api/panel/keys',
    '/api/v1/api/panel/keys',
    '/api/panel/v1/models',
    '/anthropic/v1/usage',
    '//panel',
    '/anthropic/openapi.json',
  ])
    it(`do not lead to what ${path} stands for`, async () => {
      expect(await errorIn(await pair.get(path))).to.include({ status: 404, code: 'not_found' });
    });

  for (const [path, served, base] of [
    ['/foo/v1/messages', '/v1/messages', ''],
    ['/foo/messages', '/v1/messages', '/v1'],
    ['/v1/messages/v1/messages', '/v1/messages', ''],
    ['/foo/v1/messages/count_tokens', '/v1/messages/count_tokens', ''],
    ['/v1/chat/completions/chat/completions', '/v1/chat/completions', '/v1'],
    ['/v1/openai/deployments/x/chat/completions', '/v1/chat/completions', '/v1'],
    ['/api/provider/openai/v1/responses', '/v1/responses', '/v1'],
  ] as const)
    it(`are not ${path}, whose 404 names ${served} and the base URL`, async () => {
      const error = await errorIn(await pair.post(path, named));
      expect(error).to.include({ status: 404, code: 'not_found' });
      expect(error.message).to.equal(
        `There is nothing at ${path}. This gateway serves ${served}: set the base URL of the client to ${pair.url}${base}.`,
      );
    });

  it('are none where the config says so, or names others', async () => {
    const listen = { host: '127.0.0.1', port: 0 };
    for (const [aliases, expected] of [
      [false, [404, 404, 404]],
      [
        ['/team', '//'],
        [404, 200, 200],
      ],
    ] as const) {
      const other = await startPair({ listen: { ...listen, aliases } });
      const paths = ['/anthropic/v1/models', '/team/v1/models', '//v1/models'];
      const statuses = await Promise.all(paths.map(async (path) => (await other.get(path)).status));
      await other.close();
      expect(statuses).to.deep.equal(expected);
    }
  });
});
