import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { heldBytes } from '../../../held-bytes.js';
import { livedMs } from '../../../lived-ms.js';
import { ask, masterKey, startPair, type Pair } from '../../harness.js';
import { SocketClient } from '../../socket-client.js';
import { callsTo, inFlight, requestLines } from '../../kit.js';

const megabyte = 1024 * 1024;

/** What the two sockets of the kernel may take in before the upstream is held back. */
const maxOnTheWay = 24 * megabyte;

/** Size of an answer, in megabytes: more than is on the way. */
const size = 32;

/** What this process may hold of such an answer, beside the one text of it that the simulator has made. */
const maxHeld = (size + 16) * megabyte;

describe('a caller who reads slowly', () => {
  let pair: Pair;
  let sockets: Socket[];
  beforeEach(async () => {
    pair = await startPair();
    sockets = [];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    return pair.close();
  });

  /** Asks for a stream of so many megabytes and reads nothing of it. */
  async function askWithoutReading(megabytes: number, path = '/v1/messages'): Promise<Socket> {
    const text = `[[sim:size kb=${megabytes * 1024}]]`;
    const body = JSON.stringify({ ...ask(text), stream: true });
    const socket = connect(Number(new URL(pair.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
    return socket;
  }

  /** Resolves when the upstream has not written anything for as long as it would have taken it to write it all. */
  async function untilStill(): Promise<void> {
    const call = await pair.simulator.nextRequest(({ path }) => path === '/v1/messages');
    await call.blocked;
    for (let still = 0, seen = -1; still < 200; still += 1) {
      if (seen !== call.bytesWritten) still = 0;
      seen = call.bytesWritten;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    it(`stops the upstream, and gets everything once it reads (${path})`, async () => {
      const before = heldBytes();
      const socket = await askWithoutReading(size, path);
      await untilStill();
      const call = callsTo(pair.simulator)[0]!;
      expect(call.isBlocked).to.equal(true);
      expect(call.bytesWritten).to.be.below(maxOnTheWay);
      // Freed buffers are counted a little later: the collector sweeps them on a thread of its own.
      await eventually(() => heldBytes() - before < maxHeld);

      let received = 0;
      let tail = '';
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
        tail = (tail + chunk.toString('latin1')).slice(-200);
      });
      socket.resume();
      await once(socket, 'close');
      expect(await call.closed).to.equal('finished');
      expect(received).to.be.greaterThan(size * megabyte);
      expect(tail).to.match(path === '/v1/messages' ? /event: message_stop/ : /data: \[DONE\]/);
      const [line] = await requestLines(pair);
      expect(line).to.include({ status: 200, outcome: 'completed' });
    }).timeout(30_000);
  }

  it('stops the upstream over a WebSocket too, and gets everything once it reads', async () => {
    const client = await SocketClient.open(pair);
    client.socket.pause();
    client.create({ input: `[[sim:size kb=${size * 1024}]]`, store: false });
    await untilStill();
    const call = callsTo(pair.simulator)[0]!;
    expect(call.isBlocked).to.equal(true);
    expect(call.bytesWritten).to.be.below(maxOnTheWay);
    client.socket.resume();
    const answer = await client.answer();
    expect(answer.at(-1)?.type).to.equal('response.completed');
    expect(answer.reduce((length, { delta = '' }) => length + delta.length, 0)).to.be.at.least(
      size * megabyte,
    );
    await client.close();
  }).timeout(30_000);

  it('keeps nobody else waiting', async () => {
    await Promise.all(Array.from({ length: 5 }, () => askWithoutReading(size)));
    await untilStill();
    const response = await pair.post('/v1/messages', ask('Hello!', { stream: true }));
    expect(await response.text()).to.include('message_stop');
    for (const socket of sockets) socket.destroy();
    await pair.gateway.exchanges.idle();
    expect(inFlight(pair)).to.deep.equal([0]);
  });

  it('and then leaves ends the upstream call', async () => {
    const socket = await askWithoutReading(size);
    await untilStill();
    const call = callsTo(pair.simulator)[0]!;
    const tookMs = await livedMs(async () => {
      socket.destroy();
      expect(await call.closed).to.equal('aborted');
    });
    expect(tookMs).to.be.below(250);
    const [line] = await requestLines(pair);
    expect(line).to.include({ status: 200, outcome: 'abandoned', slot: 'a' });
  });
});
