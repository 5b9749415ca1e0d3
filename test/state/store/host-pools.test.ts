import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { toPostgresAddress } from '#src/state/store/sql/postgres/address.js';
import { HostPools } from '#src/state/store/sql/postgres/host-pools.js';

describe('connections to the hosts of PostgreSQL that end while one is opened', () => {
  const servers: FakePostgres[] = [];
  let pools: HostPools;

  async function startServers(count: number): Promise<readonly FakePostgres[]> {
    for (let at = 0; at < count; at += 1) servers.push(await FakePostgres.start());
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const address = toPostgresAddress(`postgres://gw@${hosts}/gw?sslmode=disable`);
    pools = new HostPools({ address, connections: 2, queryMs: 1000, anyServer: false, log: fakeHost().log });
    return servers;
  }

  afterEach(async () => {
    pools.destroySockets();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  /** The error of an attempt to connect; undefined if it got a connection. */
  const errorOf = (connecting: Promise<unknown>): Promise<unknown> =>
    connecting.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('are not opened at the next host', async () => {
    const [silent, second] = await startServers(2);
    const error = errorOf(pools.connect());
    const socket = await silent!.nextStartup();
    const ended = pools.end();
    socket.destroy();
    await ended;
    expect(await error)
      .to.be.an('error')
      .with.property('message', 'The connections to PostgreSQL are closed.');
    expect(second!.accepted).to.equal(0);
  });

  it('are closed as soon as they are there', async () => {
    const [server] = await startServers(1);
    const error = errorOf(pools.connect());
    const socket = await server!.nextStartup();
    const ended = pools.end();
    FakePostgres.admit(socket);
    expect(await error)
      .to.be.an('error')
      .with.property('message', 'The connections to PostgreSQL are closed.');
    await ended;
  });
});

/** A server that keeps its clients waiting until they are admitted, and answers queries with no rows. */
class FakePostgres {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  accepted = 0;

  static async start(): Promise<FakePostgres> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakePostgres(server);
  }

  /** Logs a client in, and answers its queries. */
  static admit(socket: Socket): void {
    const isReady = message('Z', 'I');
    socket.on('data', (data) => {
      if (data[0] === 'Q'.charCodeAt(0)) socket.write(Buffer.concat([message('C', 'SHOW\0'), isReady]));
    });
    socket.write(Buffer.concat([message('R', '\0\0\0\0'), isReady]));
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.accepted += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined); // the client resets it
      socket.once('close', () => void this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  /** Next client, once it has asked to be logged in. */
  async nextStartup(): Promise<Socket> {
    const [socket] = (await once(this.#server, 'connection')) as [Socket];
    await once(socket, 'data');
    return socket;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}

/** Message of the protocol: its type, its length with these four bytes, its text. */
function message(type: string, text: string): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, Buffer.from(text, 'latin1')]);
}
