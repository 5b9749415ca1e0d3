import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Drain } from './drain.js';

export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** How long a caller has to take in what ends its answer, and one that is still writing a request to come to its end. */
const lastWordsMs = 1000;

/**
 * Longer than the idle time of the usual load balancers, so that it is they who hang up; and a caller whose machine has
 * vanished is noticed by the system's probes.
 */
const sockets = { keepAliveTimeout: 75_000, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** An HTTP server that listens. */
export class Listener {
  readonly drain: Drain;
  readonly #server: Server;

  private constructor(server: Server, drain: Drain) {
    this.#server = server;
    this.drain = drain;
  }

  /** Rejects where the address cannot be had. */
  static async open(handle: Handle, { host, port }: { host: string; port: number }): Promise<Listener> {
    const server = createServer(sockets, (request, response) => {
      // A pipelined request waits for its turn to answer: until then its response is not told that the connection has
      // closed, and what it holds would be held for ever.
      if (response.socket) void handle(request, response);
      else response.once('socket', () => void handle(request, response));
    });
    // Long uploads and long answers are ours to bound, not Node's five-minute request timeout.
    server.requestTimeout = 0;
    const drain = new Drain(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return new Listener(server, drain);
  }

  /** Without a trailing slash. */
  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo; // a TCP server that listens has one
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Hangs up on whoever is still there in a moment; to be called when all has been said. */
  hangUpSoon(): void {
    setTimeout(() => this.#server.closeAllConnections(), lastWordsMs).unref();
  }

  /** Resolves when the port is free and every connection has ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    const hangUp = setTimeout(() => this.#server.closeAllConnections(), lastWordsMs);
    await closed;
    clearTimeout(hangUp);
  }
}
