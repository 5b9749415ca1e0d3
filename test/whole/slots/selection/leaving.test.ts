import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { closing, eventStream, Kit, later } from '../../../engine/transport/upstream-kit.js';
import {
  ask,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
} from '../../harness.js';
import { callsTo, inFlight, requestLines } from '../../kit.js';
import { livedMs } from '../../../lived-ms.js';

/** The longest that an upstream call may outlive its caller. */
const maxMs = 250;

describe('a caller who leaves', () => {
  const kit = new Kit();
  let under: GatewayUnderTest;
  afterEach(async () => {
    await under.close();
    await kit.close();
  });

  /** Sends a request on a connection of its own. */
  async function send(body: object, headers = '', path = '/v1/messages'): Promise<Socket> {
    const text = Buffer.from(JSON.stringify(body));
    return sendHead(`content-length: ${text.length}\r\n${headers}`, text, path);
  }

  async function sendHead(headers: string, start: Buffer, path = '/v1/messages'): Promise<Socket> {
    const socket = connect(Number(new URL(under.url).port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\n${headers}\r\n`,
    );
    socket.write(start);
    return socket;
  }

  /** The caller goes; `ended` must settle in time, and nothing of the request may stay. */
  async function leave(socket: Socket, ended: Promise<unknown> = Promise.resolve()): Promise<void> {
    const tookMs = await livedMs(() => {
      socket.destroy();
      return Promise.all([ended, under.gateway.exchanges.idle()]);
    });
    expect(tookMs).to.be.below(maxMs);
    expect(under.gateway.exchanges.count).to.equal(0);
    expect(inFlight(under).every((count) => count === 0)).to.equal(true);
    expect(under.gateway.services.slots.list().every(({ queued }) => queued === 0)).to.equal(true);
    const mistakes = under.logged.filter(({ level }) => level === 'error' || level === 'warn');
    expect(mistakes).to.deep.equal([]);
  }

  async function theLine(): Promise<Readonly<Record<string, unknown>>> {
    const lines = await requestLines(under);
    expect(lines).to.have.length(1);
    return lines[0]!;
  }

  async function untilExchanges(count: number): Promise<void> {
    while (under.gateway.exchanges.count < count) await new Promise((resolve) => setImmediate(resolve));
  }

  for (const [what, headers, start] of [
    ['a body with a length', 'content-length: 1000\r\n', Buffer.from('{"model":')],
    ['a body in chunks', 'transfer-encoding: chunked\r\n', Buffer.from('9\r\n{"model":\r\n')],
    [
      'a compressed body',
      'content-length: 1000\r\ncontent-encoding: gzip\r\n',
      gzipSync('{"model":"sonnet-5"}').subarray(0, 15),
    ],
  ] as const) {
    it(`while uploading ${what} asks nothing of an upstream`, async () => {
      const pair = await startPair();
      under = pair;
      kit.onClose(() => pair.simulator.close());
      const socket = await sendHead(headers, start);
      await untilExchanges(1);
      await leave(socket);
      expect(pair.simulator.requests).to.deep.equal([]);
      expect(await theLine()).to.include({ outcome: 'abandoned', status: 499, key: 'master' });
    });
  }

  it('while waiting for a place is not sent on', async () => {
    const pair = await startPair({}, {}, (url) => [slotAt(url, { maxConcurrent: 1 })]);
    under = pair;
    kit.onClose(() => pair.simulator.close());
    const first = await send(ask('[[sim:stall after=5]]', { stream: true }));
    await pair.simulator.nextRequest();
    const second = await send(ask('I wait.'));
    while (under.gateway.services.slots.list()[0]!.queued < 1)
      await new Promise((resolve) => setImmediate(resolve));
    const tookMs = await livedMs(async () => {
      second.destroy();
      while (under.gateway.services.slots.list()[0]!.queued > 0)
        await new Promise((resolve) => setImmediate(resolve));
    });
    expect(tookMs).to.be.below(maxMs);
    await leave(first, callsTo(pair.simulator)[0]!.closed);
    expect(callsTo(pair.simulator)).to.have.length(1);
    const [line] = await requestLines(under);
    expect(line).to.include({ outcome: 'abandoned', status: 499, model: 'sonnet-5', slot: undefined });
  });

  it('while the upstream is being connected to lets go at once; the request is never sent', async () => {
    const { promise: asked, resolve: onAsked } = later<Socket>();
    const proxy = await kit.serveSockets((socket) => socket.once('data', () => onAsked(socket)));
    under = await startGateway({ slots: [slotAt('http://upstream.invalid', { proxy })] });
    const socket = await send(ask('Hello!'));
    const tunnel = await asked;
    await leave(socket);
    const sent: Buffer[] = [];
    tunnel.on('data', (bytes) => sent.push(bytes));
    tunnel.write('HTTP/1.1 200 OK\r\n\r\n');
    await closing(tunnel);
    expect(Buffer.concat(sent).toString()).to.equal('');
    expect(await theLine()).to.include({ outcome: 'abandoned', status: 499, slot: 'a' });
  });

  const phases: readonly (readonly [
    what: string,
    fault: string,
    events: number,
    tokens: object | undefined,
  ])[] = [
    ['waiting for headers', '[[sim:hang]]', 0, undefined],
    ['before the commit point', '[[sim:stall after=2]]', 2, { output: 64 }],
    ['in the middle of the answer', '[[sim:tokens n=50]][[sim:stall after=20]]', 20, { output: 64 + 30 }],
  ];
  const bodies: Readonly<Record<string, (text: string) => object>> = {
    '/v1/messages': (text) => ask(text),
    '/v1/chat/completions': (text) => ({ model: 'sonnet-5', messages: [{ role: 'user', content: text }] }),
    '/v1/responses': (text) => ({ model: 'sonnet-5', input: text }),
    '/v1/completions': (text) => ({ model: 'sonnet-5', prompt: text }),
  };
  for (const [what, fault, events, tokens] of phases)
    for (const [path, body] of Object.entries(bodies))
      for (const stream of [true, false])
        it(`while ${what} ends the upstream call (${path}, stream: ${stream})`, async () => {
          const pair = await startPair();
          under = pair;
          kit.onClose(() => pair.simulator.close());
          const socket = await send({ ...body(fault), stream }, '', path);
          const call = await pair.simulator.nextRequest(({ path }) => path === '/v1/messages');
          while (call.eventsWritten < events) await new Promise((resolve) => setImmediate(resolve));
          if (events > 0) await untilBilled();
          if (stream && events > 2) await once(socket, 'data');
          await leave(socket, call.closed);
          expect(await call.closed).to.equal('aborted');
          const line = await theLine();
          expect(line).to.include({ outcome: 'abandoned', slot: 'a', model: 'sonnet-5' });
          expect(line['status']).to.equal(stream && events > 2 ? 200 : 499);
          if (!tokens) return;
          expect(line['tokens']).to.include(tokens);
          const { input, cache_write } = line['tokens'] as Readonly<Record<string, number>>;
          expect(input! + cache_write!).to.be.greaterThan(5);
        });

  /** What the gateway has read by now is in the tally: one turn of the loop is what a read takes. */
  async function untilBilled(): Promise<void> {
    for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  it('during failover ends the call to the other slot', async () => {
    const { promise: asked, resolve: onAsked } = later<{ readonly closed: Promise<unknown> }>();
    const url = await kit.serve((request, response) => {
      if (request.headers['x-api-key'] === 'upstream-key-a') response.writeHead(500).end();
      else onAsked({ closed: once(response, 'close') });
    });
    const b = slotAt(url, { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } });
    const pipeline = stages({ with: { 'slot-pick': { policy: 'priority' } } });
    under = await startGateway({ pipeline, slots: [slotAt(url), b] });
    const socket = await send(ask('Hello!'));
    const { closed } = await asked;
    await leave(socket, closed);
    expect(await theLine()).to.include({ outcome: 'abandoned', slot: 'b', attempts: 3 });
  });

  it('during a fan-out ends every call', async () => {
    const pair = await startPair();
    under = pair;
    kit.onClose(() => pair.simulator.close());
    const body = { ...bodies['/v1/chat/completions']!('[[sim:tokens n=50]][[sim:stall after=20]]'), n: 4 };
    const socket = await send({ ...body, stream: true }, '', '/v1/chat/completions');
    await once(socket, 'data');
    const calls = callsTo(pair.simulator);
    expect(calls).to.have.length(4);
    await leave(socket, Promise.all(calls.map(({ closed }) => closed)));
    expect(calls.map(({ ending }) => ending)).to.deep.equal(['aborted', 'aborted', 'aborted', 'aborted']);
    expect((await theLine())['tokens']).to.have.property('output', 4 * (64 + 30));
  });

  it('while tokens are counted ends the count', async () => {
    const pair = await startPair();
    under = pair;
    kit.onClose(() => pair.simulator.close());
    pair.simulator.faults.push('hang');
    const socket = await send(ask('Hello!', { max_tokens: undefined }), '', '/v1/messages/count_tokens');
    const call = await pair.simulator.nextRequest();
    await leave(socket, call.closed);
  });

  it('after half of a stream is counted with the input that the upstream had reported', async () => {
    const { promise: gone, resolve: onGone } = later();
    const usage = { input_tokens: 7, cache_read_input_tokens: 100, output_tokens: 42 };
    const url = await kit.serve((request, response) => {
      request.resume();
      if (!request.url?.endsWith('/messages')) return void response.writeHead(404).end();
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'sonnet-5', content: [] };
      const start = { type: 'message_start', message: { ...message, stop_reason: null, usage } };
      const text = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } };
      response.writeHead(200, eventStream);
      for (const event of [start, text])
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.once('close', onGone);
    });
    under = await startGateway({ slots: [slotAt(url)] });
    const socket = await send(ask('Hello!', { stream: true }));
    await once(socket, 'data');
    await leave(socket, gone);
    const line = await theLine();
    expect(line['tokens']).to.deep.equal({ input: 7, cache_read: 100, cache_write: 0, output: 64 });
  });

  it('a thousand times leaves nothing behind', async function () {
    this.timeout(30_000);
    const pair = await startPair({}, {}, (url) => [slotAt(url, { maxConcurrent: 200 })]);
    under = pair;
    kit.onClose(() => pair.simulator.close());
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    const kinds = [
      '[[sim:hang]]',
      '[[sim:stall after=2]]',
      '[[sim:tokens n=40]][[sim:stall after=30]]',
      'Hello!',
    ];
    const round = async (count: number, turns = 0) => {
      const sockets = await Promise.all(
        Array.from({ length: count }, (_, at) =>
          send(ask(kinds[at % kinds.length]!, { stream: at % 3 > 0 })),
        ),
      );
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      for (const socket of sockets) socket.destroy();
      await under.gateway.exchanges.idle();
    };
    await round(50);
    const before = sockets();
    for (let at = 0; at < 20; at += 1) await round(50, at * 3); // in another phase each time
    while (sockets() > before + 10) await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
    expect(under.gateway.exchanges.count).to.equal(0);
    expect(inFlight(under)).to.deep.equal([0]);
    expect(under.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(await under.post('/v1/messages', ask('Hello!'))).to.have.property('status', 200);
  });

  function sockets(): number {
    return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  }
});
