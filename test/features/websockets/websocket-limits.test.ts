import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { ManualClock } from '@gw2api/gateway/testing';
import { SocketConnection, OpenSockets } from '#src/features/websockets/open-sockets.js';
import { Session } from '#src/features/websockets/session.js';
import { eventually } from '../../eventually.js';

describe('the number of open WebSockets of a key', () => {
  it('counts no caller that has left before its key was checked', () => {
    const sockets = new OpenSockets(1);
    const left = new SocketConnection(sockets);
    left.release();
    left.admit(undefined);
    expect(left.isAdmitted).to.equal(false);
    const next = new SocketConnection(sockets);
    next.admit(undefined);
    expect(next.isAdmitted).to.equal(true);
  });
});

describe('a WebSocket whose caller reads nothing', () => {
  let server: Server;
  let opened: Promise<{ readonly webSocket: WebSocket; readonly socket: Socket }>;
  let client: WebSocket;

  beforeEach(async () => {
    server = createServer();
    const handler = new WebSocketServer({ noServer: true, clientTracking: false });
    opened = new Promise((resolve) => {
      server.on('upgrade', (request, socket: Socket, upgradeHead) =>
        handler.handleUpgrade(request, socket, upgradeHead, (webSocket) => {
          openSession(webSocket, socket);
          resolve({ webSocket, socket });
        }),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await once(client, 'open');
  });

  afterEach(async () => {
    client.terminate();
    (await opened).webSocket.terminate();
    await new Promise((resolve) => void server.close(resolve));
  });

  it('takes no more messages until the refusals of the earlier ones are sent', async function () {
    this.timeout(60_000);
    const { webSocket, socket } = await opened;
    const count = 100_000;
    let refused = 0;
    client.on('message', () => (refused += 1));
    client.pause();
    for (let sent = 0; sent < count; sent += 1) client.send(Buffer.from('x'));
    await eventually(() => webSocket.isPaused, 30_000);
    expect(socket.writableLength).to.be.below(8 * 1024 * 1024);
    client.resume();
    await eventually(() => refused === count && !webSocket.isPaused, 30_000);
  });
});

function openSession(webSocket: WebSocket, socket: Socket): Session {
  return new Session(webSocket, socket, {
    clock: new ManualClock(),
    pingIntervalMs: 30_000,
    idleTimeoutMs: 600_000,
    maxAgeMs: 3_600_000,
    request: { path: '/', headers: {} },
    route: { accept: () => undefined, peer: socket, connection: { kept: undefined } },
    errorBody: (error) => error.toJSON(),
    maxQueuedBytes: 1024,
  });
}
