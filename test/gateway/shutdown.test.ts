import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { closing } from '../upstream/upstream-kit.js';
import { ask, eventsIn, masterKey, slotAt, startGateway, type GatewayUnderTest } from './harness.js';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.js';
import { errorIn, requestLines } from './kit.js';

describe('shutdown', () => {
  let upstream: HeldUpstream;
  let under: GatewayUnderTest;
  beforeEach(async () => void (upstream = await startHeldUpstream()));
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  async function start(shutdownTimeout = '30s'): Promise<void> {
    const listen = { host: '127.0.0.1', port: 0, shutdownTimeout };
    under = await startGateway({ listen, slots: [slotAt(upstream.url, { maxConcurrent: 1 })] });
  }

  it('lets what is under way finish, and sends new requests away', async () => {
    await start();
    const streaming = await under.post('/v1/messages', ask('Hello!', { stream: true }));
    const answer = await upstream.next();
    const closed = under.close();

    const refused = await under.post('/v1/messages', ask('Me too.'));
    expect(await errorIn(refused)).to.include({
      status: 503,
      type: 'overloaded_error',
      code: 'shutting_down',
    });
    expect(refused.headers.get('connection')).to.equal('close');
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(await under.get('/health')).to.have.property('status', 200);
    expect(await under.get('/health?ready=1')).to.have.property('status', 503);

    answer.finish();
    expect(eventsIn(await streaming.text()).at(-1)).to.deep.equal({ type: 'message_stop' });
    await closed;
    expect(await under.get('/health').catch(() => 'gone')).to.equal('gone');
  });

  it('ends streams with an error event when shutdownTimeout is over', async () => {
    await start('50ms');
    const streaming = await under.post('/v1/messages', ask('Hello!', { stream: true }));
    const answer = await upstream.next();
    await under.close();
    const events = eventsIn(await streaming.text());
    expect(events.at(-1)).to.deep.include({ type: 'error' });
    expect(await answer.closed).to.equal(false);
    const [line] = await requestLines(under);
    expect(line).to.include({ outcome: 'failed', code: 'shutting_down', status: 200 });
  });

  it('answers what has not begun with 503 when shutdownTimeout is over: waiting upstream, in the queue, in its upload', async () => {
    await start('50ms');
    const whole = under.post('/v1/messages', ask('Hello!'));
    await upstream.next();
    const queued = under.post('/v1/messages', ask('I wait.'));
    while (under.gateway.slots.list()[0]!.queued < 1) await new Promise((resolve) => setImmediate(resolve));
    const upload = startUpload();
    while (under.gateway.exchanges.count < 3) await new Promise((resolve) => setImmediate(resolve));
    await under.close();
    for (const response of [await whole, await queued])
      expect(await errorIn(response)).to.include({ status: 503, code: 'shutting_down' });
    expect(await upload).to.match(/^HTTP\/1\.1 503 [^]*"shutting_down"/);
  });

  /** A request whose body never ends; gives what comes back until the connection closes. */
  async function startUpload(): Promise<string> {
    const socket = await open();
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\n` +
        'content-length: 1000\r\n\r\n{"model":',
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    await closing(socket);
    return text;
  }

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(under.url).port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it('does not wait for connections on which nothing is under way', async () => {
    await start();
    await (await under.get('/health')).text();
    const fresh = await open();
    const half = await open();
    half.write('GET /health HT');
    const closed = Promise.all([closing(fresh), closing(half)]);
    const startedAtMs = performance.now();
    await under.close();
    await closed;
    expect(performance.now() - startedAtMs).to.be.below(1000);
  });

  it('does not wait for a caller that does not read', async () => {
    await start('50ms');
    const socket = await open();
    socket.pause();
    const body = JSON.stringify(ask('Hello!', { stream: true }));
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await upstream.next();
    for (let at = 0; at < 200; at += 1) answer.say('x'.repeat(65_536));
    await under.close();
    expect(await answer.closed).to.equal(false);
    socket.destroy();
  });

  it('asked for twice is one', async () => {
    await start();
    const streaming = await under.post('/v1/messages', ask('Hello!', { stream: true }));
    const answer = await upstream.next();
    const ended: string[] = [];
    const closings = ['one', 'two'].map((name) => under.close().then(() => ended.push(name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).to.deep.equal([]);
    answer.finish();
    await streaming.text();
    await Promise.all(closings);
    expect(ended).to.deep.equal(['one', 'two']);
  });
});

describe('two gateways in one process', () => {
  it('know nothing of each other', async () => {
    const upstreams = await Promise.all([startHeldUpstream(), startHeldUpstream()]);
    const gateways = await Promise.all(
      upstreams.map(({ url }, at) => startGateway({ slots: [slotAt(url, { id: `slot-${at}` })] })),
    );
    const [one, two] = gateways;
    one!.gateway.slots.pause('slot-0');
    expect(await one!.post('/v1/messages', ask('Hello!'))).to.have.property('status', 503);
    const answered = two!.post('/v1/messages', ask('Hello!'));
    (await upstreams[1].next()).finish();
    expect((await answered).headers.get('x-gw-slot')).to.equal('slot-1');
    await one!.close();
    const after = two!.post('/v1/messages', ask('Hello!'));
    (await upstreams[1].next()).finish();
    expect(await after).to.have.property('status', 200);
    expect(one!.logged.some(({ slot }) => slot === 'slot-1')).to.equal(false);
    await two!.close();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });
});
