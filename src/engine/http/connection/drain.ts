import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/**
 * Drain of a listening server behind a load balancer: serves requests for a while, each as the last of its
 * connection. Then it takes no connections and closes those that were idle throughout.
 */
export class Drain {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that others end. */
  readonly #handedOver = new WeakSet<Socket>();
  #accepted = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      if (this.#sockets.has(socket)) return; // served again, without the upgrade that it has asked for
      this.#accepted += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Hands a connection that no longer speaks HTTP to its new owner, who ends it at a drain. */
  handOver(socket: Socket): void {
    this.#handedOver.add(socket);
  }

  /** Resolves after `delayMs`, when the port is closed. `open`: the responses under way. */
  async run(delayMs: number, open: readonly ServerResponse[]): Promise<void> {
    const idle = new Set([...this.#sockets].filter((socket) => !this.#handedOver.has(socket)));
    for (const response of open) this.#lastOf(response, idle);
    this.#beforeEachRequest((_, response) => this.#lastOf(response, idle));
    // A connection whose answer began without `connection: close` may be used again.
    this.#server.keepAliveTimeout = delayMs;
    await delay(delayMs);
    await this.#quietTurn();
    this.stopListening();
    for (const socket of idle) socket.destroy();
  }

  /** Stops listening. Unlike `close` of an HTTP server it keeps connections that are idle at this moment. */
  stopListening(): void {
    TcpServer.prototype.close.call(this.#server);
  }

  /** Resolves when every connection has ended, or after `ms`. */
  async empty(ms: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => this.#server.once('close', resolve));
    await Promise.race([ended, delay(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  #lastOf(response: ServerResponse, idle: Set<Socket>): void {
    idle.delete(response.req.socket);
    if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /** Prepends a listener to request events that have one; without listeners Node handles them itself. */
  #beforeEachRequest(listener: (request: IncomingMessage, response: ServerResponse) => void): void {
    for (const event of ['request', 'checkContinue', 'checkExpectation'])
      if (this.#server.listenerCount(event) > 0) this.#server.prependListener(event, listener);
  }

  /**
   * Resolves after a short turn of the event loop without new connections, or after a second: a connection in
   * the system's backlog is reset when the port is closed.
   */
  async #quietTurn(): Promise<void> {
    const untilMs = performance.now() + maxSearchMs;
    for (let beganMs = performance.now(); beganMs < untilMs;) {
      const accepted = this.#accepted;
      await nextTurn();
      const nowMs = performance.now();
      if (accepted === this.#accepted && nowMs - beganMs < shortTurnMs) return;
      beganMs = nowMs;
    }
  }
}

const maxSearchMs = 1000;
const shortTurnMs = 0.2;
