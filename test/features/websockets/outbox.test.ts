import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { Outbox } from '#src/features/websockets/outbox.js';
import { eventually } from '../../eventually.js';

describe('the outbox of a WebSocket', () => {
  let server: Server;
  let outbox: Outbox;
  let socket: Socket;
  let client: WebSocket;
  let received: string[];

  beforeEach(async () => {
    server = createServer();
    const handler = new WebSocketServer({ noServer: true, clientTracking: false });
    server.on('upgrade', (request, upgraded: Socket, upgradeHead) =>
      handler.handleUpgrade(request, upgraded, upgradeHead, (webSocket) => {
        socket = upgraded;
        outbox = new Outbox(webSocket, upgraded);
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    received = [];
    client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.on('message', (data: Buffer) => received.push(data.toString()));
    await once(client, 'open');
  });
  afterEach(async () => {
    client.terminate();
    socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });

  it('sends long messages whole and in order, and closes after them', async () => {
    const messages = ['a', '€'.repeat(300_000), 'b', '𝄞'.repeat(16 * 1024), 'x'.repeat(64 * 1024), 'c'];
    outbox.send(messages);
    outbox.close(1000, 'Done.');
    const [code, reason] = (await once(client, 'close')) as [number, Buffer];
    expect(received).to.deep.equal(messages);
    expect(`${code} ${reason.toString()}`).to.equal('1000 Done.');
  });

  it('shows within a message that its caller reads, and calls back once there is room', async () => {
    client.pause();
    const length = 24 * 1024 * 1024;
    expect(outbox.send(['x'.repeat(length)])).to.equal(false);
    let rooms = 0;
    outbox.onRoom(() => (rooms += 1));
    const begunAt = outbox.takenBytes;
    await eventually(() => outbox.takenBytes > begunAt);
    expect(outbox.waitingBytes).to.be.within(1, length);
    expect(outbox.isFull).to.equal(true);
    expect(rooms).to.equal(0);
    client.resume();
    await eventually(() => received.length === 1 && rooms === 1);
    expect(received[0]).to.have.length(length);
  });

  it('counts what waits in bytes', async () => {
    client.pause();
    outbox.send(['x'.repeat(24 * 1024 * 1024)]);
    const before = outbox.waitingBytes;
    outbox.send(['€'.repeat(10_000), '€'.repeat(60_000)]);
    expect(outbox.waitingBytes - before).to.equal(210_000);
  });
});
