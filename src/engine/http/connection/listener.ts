import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GatewayError } from '../../../plugin/index.js';
import { Drain } from './drain.js';
import { lingerAfterAnswer } from './lingering-close.js';
import { expectationFailed, protocolErrorOf, fromParser, noTunnel, refuse, refuseOn } from './refusals.js';
import { refuseWebSockets, type UpgradedConnections, type UpgradeParts } from './upgrades.js';

export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Grace time for a caller to read the end of its answer, or to finish sending its request. */
const closeGraceMs = 1000;

/** TCP probes, which detect a caller whose machine is unreachable. */
const sockets = { keepAlive: true, keepAliveInitialDelay: 60_000 };

interface ListenerOptions extends ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
  /** Called before it listens; may take the upgrades. */
  readonly listening?: ((listener: Listener) => void) | undefined;
}

interface ServerOptions {
  readonly headersTimeoutMs: number;
  /** Time for which an unused connection is kept: longer than load balancers do, so that they close first. */
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Called for each connection beyond `maxConnections`, which is closed. */
  readonly onRefused: () => void;
}

/** An HTTP server that listens. */
export class Listener {
  readonly drain: Drain;
  readonly #server: Server;
  /** Opens a server of its own for the requests of upgraded connections, without a limit of connections. */
  readonly #openInner: () => Listener;
  #upgraded: UpgradedConnections | undefined;

  private constructor(server: Server, drain: Drain, openInner: () => Listener) {
    this.#server = server;
    this.drain = drain;
    this.#openInner = openInner;
  }

  /** Rejects if the address is not available. */
  static async open(handle: Handle, options: ListenerOptions): Promise<Listener> {
    const listener = Listener.within(handle, options);
    options.listening?.(listener);
    if (!listener.#upgraded) refuseWebSockets(listener.#server);
    await new Promise<void>((resolve, reject) => {
      const { host, port, backlog } = options;
      listener.#server.once('error', reject);
      listener.#server.listen({ host, port, backlog }, resolve);
    });
    return listener;
  }

  /** A server without an address, for connections from within this process. */
  static within(handle: Handle, options: ServerOptions): Listener {
    const server = createHttpServer(options);
    serveOn(server, handle);
    const drain = new Drain(server);
    limitConnections(server, drain, options);
    return new Listener(server, drain, () =>
      Listener.within(handle, { ...options, maxConnections: Infinity }),
    );
  }

  /** Serves a connection; `socket` is the server's side of it. */
  accept(socket: Duplex): void {
    this.#server.emit('connection', socket);
  }

  /** Makes `take` answer the requests for an upgrade, which are otherwise refused; to be called before it listens. */
  takeUpgrades(take: (parts: UpgradeParts) => UpgradedConnections): void {
    const inner = this.#openInner();
    const accept = (socket: Duplex): void => inner.accept(socket);
    this.#upgraded = take({ server: this.#server, drain: this.drain, accept });
  }

  /** Number of open connections that were upgraded. */
  get upgraded(): number {
    return this.#upgraded?.count ?? 0;
  }

  /** Without a trailing slash. */
  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo; // a TCP server that listens has one
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Closes all remaining connections after the grace time; to be called after the last answer. */
  closeSoon(): void {
    setTimeout(() => this.#closeAll(), closeGraceMs).unref();
  }

  /** Resolves when the port is free and every connection has ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    const timer = setTimeout(() => this.#closeAll(), closeGraceMs);
    await closed;
    clearTimeout(timer);
  }

  #closeAll(): void {
    this.#server.closeAllConnections();
    this.#upgraded?.terminate();
  }
}

function createHttpServer({
  headersTimeoutMs: headersTimeout,
  keepAliveTimeoutMs: keepAliveTimeout,
}: Pick<ServerOptions, 'headersTimeoutMs' | 'keepAliveTimeoutMs'>): Server {
  return createServer({
    ...sockets,
    headersTimeout,
    keepAliveTimeout,
    connectionsCheckingInterval: Math.min(5000, Math.max(10, headersTimeout / 5)),
    // Long uploads and long answers are ours to bound, not Node's five-minute request timeout.
    requestTimeout: 0,
    requireHostHeader: false, // Node's own answer is not our error object
  });
}

/**
 * Closes connections beyond the max. Not by Node's `maxConnections`: in a cluster each worker would pass the
 * connection on to the next one, without end.
 */
function limitConnections(
  server: Server,
  drain: Drain,
  options: Pick<ServerOptions, 'maxConnections' | 'onRefused'>,
): void {
  server.on('connection', (socket: Socket) => {
    if (drain.connections <= options.maxConnections) return; // the count includes this one
    socket.destroy();
    options.onRefused();
  });
}

/** Passes requests to `handle`, and answers those that Node would answer itself. */
function serveOn(server: Server, handle: Handle): void {
  const answering = new WeakMap<Socket, ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, response);
    const error = protocolErrorOf(request);
    if (error) refuseRequest(request, response, error);
    else void handle(request, response);
  };
  const inTurn = (request: IncomingMessage, response: ServerResponse): void => {
    // A pipelined request waits for its turn to answer: until then its response gets no `close` event, and
    // its resources would never be released.
    if (response.socket) serve(request, response);
    else response.once('socket', () => serve(request, response));
  };
  server.on('request', inTurn);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    inTurn(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    refuseRequest(request, response, expectationFailed(request)),
  );
  server.on('connect', (_: IncomingMessage, socket: Socket) => refuseOn(socket, noTunnel()));
  server.on('clientError', (error: Error, socket: Socket) => {
    const response = answering.get(socket);
    const isAnswering = response?.headersSent === true && !response.writableFinished;
    if (isAnswering || !socket.writable) socket.destroy(); // an answer that has begun cannot become another one
    else refuseOn(socket, fromParser(error));
  });
}

function refuseRequest(request: IncomingMessage, response: ServerResponse, error: GatewayError): void {
  lingerAfterAnswer(request.socket);
  refuse(response, error);
}

/** Sends `100 Continue` when the body is about to be read; never for a request refused before that. */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
