import { once } from 'node:events';
import { expect } from 'chai';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { ManualClock } from '@gw2api/gateway/testing';
import { eventually } from '../../../eventually.js';
import { livedMs } from '../../../lived-ms.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import {
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { issueKey } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { head, RawClient } from '../../raw-client.js';
import { refusalOf, SocketClient } from '../../socket-client.js';
import { TempFolders } from '../../temp-folders.js';
import { hanging, parrot } from '../../../support/socket-format.js';

describe('the handshake of a WebSocket', () => {
  let pair: Pair;
  before(async () => {
    const webSockets = { origins: ['https://app.example'], maxPerKey: 2 };
    pair = await startPair({ listen: { host: '127.0.0.1', port: 0, webSockets } });
  });
  after(() => pair.close());

  it('wants a key', async () => {
    expect(await refusalOf(pair, { key: '' })).to.include({ status: 401, code: 'missing_api_key' });
    expect(await refusalOf(pair, { key: 'sk-gw-wrong' })).to.include({
      status: 401,
      code: 'invalid_api_key',
    });
  });

  it('echoes the id of the request, also where it is refused', async () => {
    const { headers } = await refusalOf(pair, { key: '', headers: { 'x-request-id': 'mine' } });
    expect(headers).to.include({ connection: 'close' }).and.have.property('x-request-id');
  });

  it('refuses pages of other origins, but those of the config', async () => {
    const refused = await refusalOf(pair, { origin: 'https://evil.example' });
    expect(refused).to.include({ status: 403, code: 'forbidden' });
    for (const origin of ['https://app.example', pair.url])
      await (await SocketClient.open(pair, { origin })).close();
  });

  it('is refused where there is no WebSocket, and its connection closed', async () => {
    const none = { status: 404, code: 'not_found' };
    for (const path of ['/v1/nothing', '/health', '/v1/models'])
      expect(await refusalOf(pair, { path }), path).to.include(none);
    const others = await refusalOf(pair, { path: '/v1/messages' });
    expect(others).to.include({ status: 405, code: 'method_not_allowed' });
    expect(others.headers).to.include({ connection: 'close' });
  });

  it('is asked for by a GET without it', async () => {
    const answer = await pair.get('/v1/responses');
    expect(answer.status).to.equal(426);
    expect(answer.headers.get('upgrade')).to.equal('websocket');
  });

  it('is answered with 426 where WebSockets are off, and HTTP goes on', async () => {
    const off = await startPair({ listen: { host: '127.0.0.1', port: 0, webSockets: false } });
    const client = await RawClient.open(off.url);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    client.send(
      `${head('GET /v1/responses', { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'x-api-key': masterKey })}\r\n`,
    );
    const answer = await client.answer();
    expect(answer).to.include({ status: 426 }).and.have.property('body').that.includes('upgrade_required');
    client.close();
    expect(await refusalOf(off, { key: '' })).to.include({ status: 426, code: 'upgrade_required' });
    const posted = await off.post('/v1/responses', { model: 'sonnet-5', input: 'Hi' });
    expect(posted.status).to.equal(200);
    expect((await off.get('/v1/responses')).status).to.equal(405);
    await off.close();
  });

  it('offers no compression', async () => {
    const client = await SocketClient.open(pair, { perMessageDeflate: true });
    expect(client.socket.extensions).to.equal('');
    await client.close();
  });

  it('is refused beyond the number of a key, until one is closed', async () => {
    const [one, two] = [await SocketClient.open(pair), await SocketClient.open(pair)];
    expect(await refusalOf(pair, {})).to.include({ status: 429, code: 'rate_limited' });
    await one.close();
    await eventually(async () => {
      const third = await SocketClient.open(pair).catch(() => undefined);
      await third?.close();
      return third !== undefined;
    });
    await two.close();
  });

  it('leaves requests alone that ask for another protocol', async () => {
    const body = JSON.stringify({
      model: 'sonnet-5',
      max_tokens: 99,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const request = head('POST /v1/messages', {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABk',
      'x-api-key': masterKey,
      'content-type': 'application/json',
      'content-length': body.length,
    });
    const client = await RawClient.open(pair.url);
    client.send(`${request}\r\n${body.slice(0, 20)}`);
    client.send(body.slice(20));
    expect(await client.answer())
      .to.have.property('body')
      .that.includes('You said: Hi');
    client.received = '';
    client.send(`${head('GET /v1/models', { 'x-api-key': masterKey })}\r\n`);
    expect(await client.answer()).to.have.property('status', 200);
    client.close();
  });

  it('leaves nothing behind on a connection that asks for another protocol each time', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    const asks = { connection: 'Upgrade', upgrade: 'h2c', 'x-api-key': masterKey };
    const client = await RawClient.open(pair.url);
    for (let sent = 0; sent < 20; sent += 1) {
      client.received = '';
      client.send(`${head('GET /v1/models', asks)}\r\n`);
      expect(await client.answer()).to.have.property('status', 200);
    }
    client.close();
    process.off('warning', note);
    expect(warnings).not.to.include('MaxListenersExceededWarning');
  });
});

describe('a WebSocket', () => {
  let clock: ManualClock;
  let upstream: HeldUpstream;
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    clock = new ManualClock();
    upstream = await startHeldUpstream();
    const pipeline = stages({ with: { 'body-limit': { limit: 5000 } }, without: ['web-search-tool'] });
    const config = { slots: [slotAt(upstream.url)], pipeline };
    gateway = await startGateway(config, {}, clock.now, { clock });
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const open = () => SocketClient.open(gateway);

  /** Lets time pass, but never two pings at once: their answers come over a real socket. */
  async function pass(client: SocketClient, ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 30_000) {
      const pinged = once(client.socket, 'ping');
      clock.pass(Math.min(leftMs, 30_000));
      await pinged;
      await answered(client);
    }
  }

  /** A client whose answer has begun. */
  const begun = async () => {
    const client = await open();
    client.create({ input: 'Hi' });
    const held = await upstream.next();
    while ((await client.next()).type !== 'response.output_text.delta');
    return { client, held };
  };

  it('is pinged, and ended where nothing comes back', async () => {
    const client = await SocketClient.open(gateway, { autoPong: false });
    const pinged = once(client.socket, 'ping');
    clock.pass(30_000);
    await pinged;
    clock.pass(30_000);
    expect(await client.closed).to.equal('1006');
  });

  it('lives on while its caller answers pings', async () => {
    const client = await open();
    await pass(client, 300_000);
    await client.close();
  });

  it('is closed after ten minutes without a message', async () => {
    const client = await open();
    await pass(client, 570_000);
    expect(client.socket.readyState).to.equal(client.socket.OPEN);
    clock.pass(30_000);
    expect(await client.closed).to.equal('1000 The connection was idle.');
  });

  it('is closed after sixty minutes, when the answer under way has ended', async () => {
    const client = await open();
    for (let minutes = 0; minutes < 55; minutes += 5) {
      await pass(client, 300_000);
      client.socket.send('{');
      await client.next();
    }
    await pass(client, 270_000);
    client.create({ input: 'Hi' });
    const held = await upstream.next();
    clock.pass(30_000);
    held.finish();
    expect((await client.answer()).at(-1)?.type).to.equal('response.completed');
    expect(await client.next()).to.have.nested.property('error.code', 'websocket_connection_limit_reached');
    expect(await client.closed).to.match(/^1000 /);
  });

  it('ends the call upstream within 250 ms of its end', async () => {
    const { client, held } = await begun();
    const tookMs = await livedMs(() => {
      client.socket.terminate();
      return Promise.all([held.closed, gateway.gateway.exchanges.idle()]);
    });
    expect(tookMs).to.be.below(250);
    expect(await held.closed).to.equal(false);
    expect(gateway.gateway.services.slots.list()[0]!.inFlight).to.equal(0);
  });

  it('takes no message above the body limit', async () => {
    const client = await open();
    client.create({ input: 'x'.repeat(6000) });
    expect(await client.closed).to.match(/^1009/);
  });

  it('refuses a binary message and one that is no JSON, and stays', async () => {
    const client = await open();
    client.socket.send(Buffer.from('{}'));
    const refused = await client.next();
    expect(refused).to.deep.include({ type: 'error', status: 400 });
    expect(refused.error).to.include({ code: 'invalid_request', param: null });
    client.socket.send('{"type":');
    expect(await client.next()).to.have.nested.property('error.code', 'invalid_json');
    const answer = client.ask({ input: 'Hi' });
    (await upstream.next()).finish();
    expect((await answer).type).to.equal('response.completed');
    await client.close();
  });

  it('lets few messages wait for their turn', async () => {
    const { client, held } = await begun();
    for (let count = 0; count < 9; count += 1) client.create({ input: 'Next' });
    expect(await client.next()).to.deep.include({ type: 'error', status: 429 });
    held.finish();
    for (let count = 0; count < 8; count += 1) (await upstream.next()).finish();
    for (let count = 0; count < 9; count += 1)
      expect((await client.answer()).at(-1)?.type).to.equal('response.completed');
    await client.close();
  });

  it('answers beside another one, each by itself', async () => {
    const [one, two] = [await begun(), await begun()];
    two.held.finish();
    expect((await two.client.answer()).at(-1)?.type).to.equal('response.completed');
    one.held.finish();
    expect((await one.client.answer()).at(-1)?.type).to.equal('response.completed');
    await Promise.all([one.client.close(), two.client.close()]);
  });

  it('is closed with 1001 at a shutdown, one with an answer under way when that has ended', async () => {
    const idle = await open();
    const { client, held } = await begun();
    const closed = gateway.close();
    expect(await idle.closed).to.match(/^1001/);
    held.finish();
    expect((await client.answer()).at(-1)?.type).to.equal('response.completed');
    expect(await client.closed).to.match(/^1001/);
    await closed;
  });
});

/** Resolves when the gateway has read what the client has sent so far: it answers a ping of the client's own. */
async function answered({ socket }: SocketClient): Promise<void> {
  const ponged = once(socket, 'pong');
  socket.ping();
  await ponged;
}

describe('a WebSocket of plugins', () => {
  const folders = new TempFolders();
  let pair: Pair;
  afterEach(async () => {
    await pair.close();
    await folders.remove();
  });

  it('serves a format from outside, which keeps a value on it', async () => {
    const baseDir = await folders.make({ 'parrot.mjs': parrot });
    pair = await startPair({ formats: ['messages', './parrot.mjs'] }, {}, undefined, { baseDir });
    const [one, two] = [await openAt('/parrot'), await openAt('/parrot')];
    const say = async (client: SocketClient) => {
      client.socket.send('{"say":"Hi"}');
      return JSON.stringify(await client.next());
    };
    expect(await say(one)).to.include('You said: Hi 1');
    expect(await say(one)).to.include('You said: Hi 2');
    expect(await say(two)).to.include('You said: Hi 1');
    one.socket.send('{');
    expect(await one.next()).to.deep.include({ type: 'error', status: 400, fault: 'invalid_json' });
    expect(JSON.stringify(await (await pair.post('/parrot', { say: 'Hi' })).json())).to.include('Hi alone');
    await Promise.all([one.close(), two.close()]);
  });

  it('is refused where its key is not checked in time', async () => {
    const clock = new ManualClock();
    const baseDir = await folders.make({ 'hanging.mjs': hanging });
    const pipeline = [{ use: './hanging.mjs' }, ...stages()];
    pair = await startPair({ pipeline }, { clock }, undefined, { baseDir, clock });
    const refused = refusalOf(pair, {});
    await eventually(() => pair.gateway.exchanges.count === 1);
    clock.pass(30_000);
    expect(await refused).to.include({ status: 408, code: 'request_timeout' });
    await pair.gateway.exchanges.idle();
  });

  const openAt = (path: string) => SocketClient.open(pair, { path });
});

describe('each message of a WebSocket', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  it('is checked for its key again', async () => {
    const panel = new PanelClient(pair.url);
    const { id, key } = await panel.ask('POST', '/keys', { name: 'one' });
    const client = await SocketClient.open(pair, { key });
    expect((await client.ask({ input: 'Hi' })).type).to.equal('response.completed');
    await panel.ask('DELETE', `/keys/${id}`);
    const refused = await client.ask({ input: 'Hi' });
    expect([refused.status, refused.error?.code]).to.deep.equal([401, 'invalid_api_key']);
    expect(await client.closed).to.match(/^1008/);
  });

  it('counts toward the limits of its key', async () => {
    const key = await issueKey(pair, 'limited', { requestsPerMinute: 1 });
    const client = await SocketClient.open(pair, { key });
    expect((await client.ask({ input: 'Hi' })).type).to.equal('response.completed');
    const refused = await client.ask({ input: 'Hi' });
    expect([refused.status, refused.error?.code]).to.deep.equal([429, 'rate_limited']);
    expect(Number(refused.headers?.['retry-after'])).to.be.within(1, 60);
    await client.close();
  });

  it('has a row in the ledger, a line in the log and an id of its own', async () => {
    const client = await SocketClient.open(pair, {
      headers: { 'x-request-id': 'mine', 'x-session-id': 's1' },
    });
    const before = pair.logged.length;
    await client.ask({ input: 'One' });
    await client.ask({ input: 'Two' });
    const lines = pair.logged.slice(before).filter(({ path }) => path === '/v1/responses');
    expect(lines.map(({ operation, status }) => [operation, status])).to.deep.equal([
      ['generate', 200],
      ['generate', 200],
    ]);
    const ids = new Set(lines.map(({ id }) => id));
    expect(ids.size).to.equal(2);
    const panel = new PanelClient(pair.url);
    const rows = async () => {
      const { data } = (await panel.get('/requests')) as {
        data: readonly { readonly request_id: unknown }[];
      }; // as the console has it
      return data.filter((row) => ids.has(row.request_id));
    };
    await eventually(async () => (await rows()).length === 2);
    for (const row of await rows())
      expect(row).to.include({ format: 'responses', streamed: true, failed: false });
    await client.close();
  });

  it('is answered to the vendor’s own client', async () => {
    const openai = new OpenAI({ baseURL: `${pair.url}/v1`, apiKey: masterKey, maxRetries: 0 });
    const socket = new ResponsesWS(openai);
    const completed = new Promise<string>((resolve, reject) => {
      socket.on('response.completed', ({ response }) => resolve(JSON.stringify(response.output)));
      socket.on('error', reject);
    });
    socket.send({ type: 'response.create', model: 'sonnet-5', input: 'Hello!' });
    expect(await completed).to.include('You said: Hello!');
    socket.close();
  });

  it('counts in the metrics, as does its connection', async () => {
    const client = await SocketClient.open(pair);
    expect(await (await pair.get('/metrics')).text()).to.match(/^gw2api_websockets_open 1$/m);
    await client.close();
    await eventually(async () =>
      /^gw2api_websockets_open 0$/m.test(await (await pair.get('/metrics')).text()),
    );
  });
});
