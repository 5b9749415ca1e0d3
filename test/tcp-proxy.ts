import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands before a server, to be cut or frozen in its place. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: 'forwarding' | 'closed' | 'frozen' = 'forwarding';

  static async start(host: string, port: number): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, host, port);
  }

  private constructor(server: Server, host: string, port: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port; // it listens on TCP
    server.on('connection', (near: Socket) => {
      if (this.#state === 'closed') near.destroy();
      else this.#join(near, connect(port, host));
    });
  }

  /** Breaks all connections, and each new one at once. */
  cut(): void {
    this.#state = 'closed';
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Takes connections and passes nothing on, as a stopped process does. */
  freeze(): void {
    this.#state = 'frozen';
    for (const socket of this.#sockets) socket.pause();
  }

  forward(): void {
    this.#state = 'forwarding';
    for (const socket of this.#sockets) socket.resume();
  }

  get connections(): number {
    return this.#sockets.size / 2;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => void to.write(chunk));
      from.on('error', () => undefined); // its close follows
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#state === 'frozen') from.pause();
    }
  }
}

/** The address with the proxy's port in place of the server's. */
export function throughProxy(url: string, { port }: TcpProxy): string {
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return through.href;
}
