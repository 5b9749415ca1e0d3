import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { eventually } from '../../../eventually.js';
import { ask, masterKey, slotAt, startPair, type Pair } from '../../harness.js';
import { inFlight, requestLines } from '../../kit.js';
import { SocketClient } from '../../socket-client.js';

/** More than the kernel's buffers take of an answer that is not read. */
const tooMuch = '[[sim:size kb=12288]]';
/** More than they take of one that is read now and then. */
const farTooMuch = '[[sim:size kb=32768]]';
const idleMs = 60_000;

describe('callers that never read', () => {
  let pair: Pair;
  let clock: ManualClock;
  let sockets: Socket[];

  async function start(listen: object = {}): Promise<void> {
    const slots = (url: string) => [slotAt(url, { maxConcurrent: 2 })];
    const config = { listen: { host: '127.0.0.1', port: 0, ...listen } };
    pair = await startPair(config, {}, slots, { clock });
  }
  beforeEach(() => {
    clock = new ManualClock();
    sockets = [];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    return pair.close();
  });

  /** Posts a request, and reads nothing of its answer. */
  async function postUnread(text: string, fields: object): Promise<Socket> {
    const body = JSON.stringify(ask(text, fields));
    const socket = connect(Number(new URL(pair.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  }

  /** Bytes of each answer that its caller's machine has taken. */
  function takenBytes(): readonly number[] {
    return pair.gateway.exchanges.responses.map(
      ({ socket }) => socket!.bytesWritten - socket!.writableLength,
    );
  }

  /** Resolves once so many answers wait for their callers. */
  async function untilWaiting(count: number): Promise<void> {
    let before = '';
    await eventually(async () => {
      const waiting = pair.gateway.exchanges.responses.filter(({ writableLength }) => writableLength > 0);
      const seen = takenBytes().join();
      const isStill = seen === before;
      before = seen;
      await new Promise((resolve) => setImmediate(resolve));
      return waiting.length === count && isStill;
    }, 30_000);
  }

  async function endedCallers(): Promise<number> {
    const text = await (await pair.get('/metrics')).text();
    return Number(/^gw2api_callers_idle_total (\d+)$/m.exec(text)?.[1]);
  }

  for (const [what, fields] of [
    ['streams', { stream: true }],
    ['whole answers', {}],
  ] as const)
    it(`give their places back: ${what}`, async () => {
      await start();
      const unread = [await postUnread(tooMuch, fields), await postUnread(tooMuch, fields)];
      await untilWaiting(2);
      clock.pass(idleMs - 1000);
      expect(pair.gateway.exchanges.count).to.equal(2);
      clock.pass(2000);
      await pair.gateway.exchanges.idle();
      expect(inFlight(pair)).to.deep.equal([0]);
      expect(await endedCallers()).to.equal(2);
      const [line] = await requestLines(pair);
      expect(line).to.include({ outcome: 'abandoned', slot: 'a' });
      for (const socket of unread) {
        socket.resume();
        await eventually(() => socket.closed); // reset, which may be an error of the socket first
      }
    }).timeout(60_000);

  it('give their places back: WebSockets', async () => {
    await start({ webSockets: { pingInterval: '1h' } });
    const client = await SocketClient.open(pair);
    client.socket.pause();
    client.create({ input: tooMuch, store: false });
    await untilWaiting(1);
    clock.pass(idleMs - 1000);
    expect(pair.gateway.listeners.openWebSockets).to.equal(1);
    clock.pass(2000);
    await pair.gateway.exchanges.idle();
    expect(inFlight(pair)).to.deep.equal([0]);
    expect(pair.gateway.listeners.openWebSockets).to.equal(0);
    expect(await endedCallers()).to.equal(1);
    client.socket.resume();
    await client.closed;
  }).timeout(60_000);

  /** Reads until the gateway has written so many bytes more. */
  async function readSome(socket: Pick<Socket, 'pause' | 'resume'>, bytes: number): Promise<void> {
    const [before = 0] = takenBytes();
    socket.resume();
    await eventually(() => takenBytes()[0]! - before >= bytes, 30_000);
    socket.pause();
  }

  for (const [what, fields] of [
    ['a stream', { stream: true }],
    ['a whole answer', {}],
  ] as const)
    it(`are not those that read slowly: ${what}`, async () => {
      await start();
      const socket = await postUnread(farTooMuch, fields);
      await untilWaiting(1);
      for (let round = 0; round < 2; round += 1) {
        clock.pass(idleMs * 0.9);
        expect(pair.gateway.exchanges.count).to.equal(1);
        await readSome(
          socket.on('data', () => undefined),
          16 * 1024,
        );
      }
      await untilWaiting(1);
      clock.pass(idleMs * 1.1);
      await pair.gateway.exchanges.idle();
    }).timeout(60_000);

  it('are not those whose upstream lets them wait', async () => {
    await start();
    const socket = await postUnread('[[sim:stall after=4]]', { stream: true });
    await pair.simulator.nextRequest();
    await eventually(() => takenBytes()[0]! > 0);
    clock.pass(idleMs * 0.95);
    await eventually(() => takenBytes()[0]! > 0);
    clock.pass(idleMs * 0.95);
    expect(pair.gateway.exchanges.count).to.equal(1);
    socket.destroy();
  });

  it('stay where callerIdleTimeout is 0', async () => {
    await start({ callerIdleTimeout: '0s' });
    await postUnread(tooMuch, { stream: true });
    await untilWaiting(1);
    clock.pass(idleMs * 10);
    expect(pair.gateway.exchanges.count).to.equal(1);
  });
});
