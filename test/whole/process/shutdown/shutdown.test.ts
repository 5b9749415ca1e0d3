import { once } from 'node:events';
import { request as openRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { createGateway } from '@gw2api/gateway';
import type { RecordedRequest } from '#plugins/upstreams/simulator/recorded-request.js';
import {
  ask,
  configOf,
  eventsIn,
  masterKey,
  slotAt,
  startGateway,
  startPair,
  type GatewayUnderTest,
} from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';

const streams = {
  '/v1/messages': ask('Hi', { stream: true }),
  '/v1/chat/completions': { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hi' }], stream: true },
  '/v1/responses': { model: 'sonnet-5', input: 'Hi', stream: true },
  '/v1/completions': { model: 'sonnet-5', prompt: 'Hi', stream: true },
};

const said = 'The gateway was shut down before the answer was complete.';
const loopback = { host: '127.0.0.1', port: 0 };
const refusal = { type: 'overloaded_error', code: 'shutting_down' };

describe('a gateway that shuts down', () => {
  let upstream: HeldUpstream;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(async () => {
    await upstream.close();
    await under.close();
  });

  async function start(shutdownTimeout = '30s', slot: object = {}): Promise<void> {
    under = await startGateway({
      listen: { ...loopback, shutdownTimeout },
      slots: [slotAt(upstream.url, slot)],
    });
  }

  it('says that it lives and is not ready, and takes no new requests of any kind', async () => {
    await start();
    const stream = await under.post('/v1/messages', ask('Hi', { stream: true }));
    const answer = await upstream.next();
    const closed = under.gateway.close();

    for (const path of ['/health', '/', '/v1/meta']) {
      expect((await under.get(path)).status).to.equal(200);
      expect((await under.get(`${path}?ready=1`)).status).to.equal(503);
    }
    for (const refused of [
      ...(await Promise.all(Object.entries(streams).map(([path, body]) => under.post(path, body)))),
      await under.post('/v1/messages/count_tokens', ask('Hi')),
      await under.get('/v1/models'),
      await under.get('/models/sonnet-5'),
      await under.get('/v1/usage'),
      await under.get('/v1/responses/resp_1'),
    ]) {
      expect(refused.status, refused.url).to.equal(503);
      expect(refused.headers.get('connection')).to.equal('close');
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect(((await refused.json()) as { error: object }).error).to.include(refusal);
    }

    answer.finish();
    expect(await stream.text()).to.include('event: message_stop');
    await closed;
  });

  for (const [path, body] of Object.entries(streams))
    it(`ends a stream of ${path} that takes too long with an error event and no mark of success`, async () => {
      await start('20ms');
      const stream = await under.post(path, body);
      const { closed } = await upstream.next();
      await under.gateway.close();
      const text = await stream.text();
      expect(JSON.stringify(eventsIn(text).at(-1))).to.include(said);
      expect(text).not.to.match(/message_stop|\[DONE\]|response\.completed/);
      expect(await closed, 'whether the upstream could finish').to.equal(false);
      const line = under.logged.find(({ msg }) => msg === 'request');
      expect(line).to.include({ outcome: 'failed', code: 'shutting_down', status: 200 });
    });

  it('tells the caller of a whole answer that takes too long in a 503', async () => {
    await start('20ms');
    const answered = under.post('/v1/messages', ask('Hi'));
    await upstream.next();
    await under.gateway.close();
    const answer = await answered;
    expect(answer.status).to.equal(503);
    expect(await answer.json()).to.deep.include({ error: { ...refusal, message: said } });
  });

  it('tells the same to who waits for a place', async () => {
    await start('20ms', { maxConcurrent: 1 });
    const first = under.post('/v1/messages', ask('One'));
    await upstream.next();
    const second = under.post('/v1/messages', ask('Two'));
    await isTrue(() => under.gateway.services.slots.list()[0]!.queued === 1);
    await under.gateway.close();
    for (const answer of await Promise.all([first, second])) {
      expect(answer.status).to.equal(503);
      expect(await answer.json()).to.deep.include({ error: { ...refusal, message: said } });
    }
  });

  it('tells the same to who is still sending', async () => {
    await start('20ms');
    const { hostname, port } = new URL(under.url);
    const headers = {
      'content-type': 'application/json',
      'x-api-key': masterKey,
      'content-length': 100,
    };
    const sending = openRequest({ hostname, port, method: 'POST', path: '/v1/messages', headers });
    sending.on('error', () => undefined); // the connection ends with the answer
    sending.write('{"model":');
    await isTrue(() => under.gateway.exchanges.count === 1);
    const answered = once(sending, 'response');
    await under.gateway.close();
    const [answer] = (await answered) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection]).to.deep.equal([503, 'close']);
  });

  it('does not wait for ever for who does not read', async () => {
    const pair = await startPair({
      listen: { ...loopback, shutdownTimeout: '20ms' },
    });
    const received = pair.simulator.nextRequest();
    const socket = connect(Number(new URL(pair.url).port), loopback.host).pause();
    const body = JSON.stringify(ask('[[sim:size kb=20000]]', { stream: true }));
    const head = `x-api-key: ${masterKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`POST /v1/messages HTTP/1.1\r\nhost: gateway\r\n${head}\r\n\r\n${body}`);
    const exchange = await received;
    await isStuck(exchange);
    await pair.gateway.close();
    expect(await exchange.closed).to.equal('aborted');
    socket.destroy();
    await pair.close();
  });

  it('does not wait for half a request', async () => {
    await start();
    const { hostname, port } = new URL(under.url);
    const socket = connect(Number(port), hostname);
    socket.write('GET /health HTTP/1.1\r\nhost: ');
    await once(socket, 'connect');
    expect((await under.get('/health')).status).to.equal(200);
    const ended = once(socket, 'close');
    await under.gateway.close();
    await ended;
  });

  it('is closed once for all who close it', async () => {
    await start();
    const stream = await under.post('/v1/messages', ask('Hi', { stream: true }));
    const answer = await upstream.next();
    let isClosed = false;
    const first = under.gateway.close().then(() => (isClosed = true));
    const second = under.gateway.close().then(() => isClosed);
    answer.finish();
    await stream.text();
    await first;
    expect(await second, 'whether the second waited for the first').to.equal(true);
  });

  it('takes no new config any more', async () => {
    await start();
    const stream = await under.post('/v1/messages', ask('Hi', { stream: true }));
    const answer = await upstream.next();
    const closed = under.gateway.close();
    const reload = await under.post('/admin/reload', {});
    expect(reload.status).to.equal(503);
    expect(((await reload.json()) as { error: object }).error).to.include(refusal);
    answer.finish();
    await stream.text();
    await closed;
  });

  it('leaves its port to the next one', async () => {
    await start();
    const port = Number(new URL(under.url).port);
    await under.gateway.close();
    const next = await startGateway({ listen: { ...loopback, port }, slots: [slotAt(upstream.url)] });
    expect((await next.get('/health')).status).to.equal(200);
    await next.close();
  });
});

describe('a gateway that never listened', () => {
  it('can be closed', async () => {
    const gateway = await createGateway(configOf({ slots: [{ id: 'a', upstream: 'simulator' }] }));
    await gateway.close();
    expect(gateway.isDraining).to.equal(true);
  });
});

/** Resolves once a condition holds; the test's own time limit bounds it. */
async function isTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves once nothing flows: everybody is in this process, so that a hundred turns would have brought something. */
async function isStuck(exchange: RecordedRequest): Promise<void> {
  let written = 0;
  for (let turns = 0; turns < 100 || !exchange.isBlocked; turns += 1) {
    if (exchange.bytesWritten !== written) turns = 0;
    written = exchange.bytesWritten;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
