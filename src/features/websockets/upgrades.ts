import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { GatewayError, toGatewayError, type Clock } from '../../plugin/index.js';
import { CallerWatch, type CallerLimits } from '../../engine/http/watch/caller-watch.js';
import { answerOn, protocolErrorOf, refuseOn } from '../../engine/http/connection/refusals.js';
import { shakeHands, lastingHeaders, originError } from './handshake.js';
import type { TrustedHops } from '../../engine/http/trusted-hops.js';
import {
  asksForWebSocket,
  serveWithoutUpgrade,
  type UpgradedConnections,
  type UpgradeParts,
} from '../../engine/http/connection/upgrades.js';
import { OpenSockets, SocketConnection } from './open-sockets.js';
import { Session, type SessionLimits } from './session.js';

export interface WebSocketOptions extends SessionLimits, CallerLimits {
  /** Origins of pages that may open WebSockets, besides the gateway's own. */
  readonly origins: readonly string[];
  readonly maxPerKey: number;
  readonly hops: TrustedHops | undefined;
  /** Time limit from the request to the `101`. */
  readonly handshakeTimeoutMs: number;
  readonly clock: Clock;
  readonly maxMessageBytes: () => number;
  /** Aborts when a shutdown begins. */
  readonly closing: AbortSignal;
}

interface Attempt {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that have arrived after the request. */
  readonly head: Buffer;
  readonly connection: SocketConnection;
}

/** Requests of a server for an upgrade: WebSockets, and others, which are served without it. */
export class Upgrades implements UpgradedConnections {
  readonly #parts: UpgradeParts;
  readonly #options: WebSocketOptions;
  readonly #sockets: OpenSockets;
  readonly #callers: CallerWatch;
  /** Makes the `101`; loaded at the first one. */
  #handler: Promise<WebSocketServer> | undefined;

  constructor(parts: UpgradeParts, options: WebSocketOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#sockets = new OpenSockets(options.maxPerKey);
    this.#callers = new CallerWatch(() => this.#sockets.sessions, options, options.clock);
    parts.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (asksForWebSocket(request)) this.#open(request, socket, head);
      else serveWithoutUpgrade(parts.server, request, socket, head);
    });
    options.closing.addEventListener('abort', () => this.#sockets.drain());
  }

  get count(): number {
    return this.#sockets.count;
  }

  /** Ends all remaining ones. */
  terminate(): void {
    this.#sockets.terminate();
  }

  #open(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', ignore);
    const error = protocolErrorOf(request) ?? originError(request, this.#options) ?? this.#drainError();
    if (error) return refuseOn(socket, error);
    const connection = new SocketConnection(this.#sockets);
    socket.once('close', () => connection.release());
    this.#shake({ request, socket, head, connection }).catch((failure: unknown) => {
      connection.release();
      refuseOn(socket, toGatewayError(failure));
    });
  }

  /** Answers `101` after the stages have admitted the caller, else with their answer. */
  async #shake({ request, socket, head, connection }: Attempt): Promise<void> {
    const route = { accept: this.#parts.accept, peer: socket, connection };
    const sent = { path: request.url ?? '/', headers: lastingHeaders(request.headers) };
    const refusal = await shakeHands(sent, route, this.#options);
    if (refusal) return answerOn(socket, refusal);
    const handler = await (this.#handler ??= load());
    const late = this.#drainError();
    if (late) throw late;
    const maxQueuedBytes = this.#options.maxMessageBytes();
    handler.options.maxPayload = maxQueuedBytes;
    handler.handleUpgrade(request, socket, head, (webSocket) => {
      this.#parts.drain.handOver(socket);
      const session = new Session(webSocket, socket, {
        ...this.#options,
        request: sent,
        route,
        maxQueuedBytes,
        errorBody: (error) => connection.errorBody(error),
      });
      this.#sockets.add(session);
      this.#callers.wake();
      webSocket.once('close', () => this.#sockets.delete(session));
    });
  }

  #drainError(): GatewayError | undefined {
    if (!this.#options.closing.aborted) return undefined;
    return new GatewayError('shutting_down', 'This gateway is shutting down; connect again.', {
      headers: { 'retry-after': '1' },
    });
  }
}

async function load(): Promise<WebSocketServer> {
  const { WebSocketServer: Handler } = await import('ws');
  const options = { noServer: true, clientTracking: false, closeTimeout: closeTimeoutMs, maxBufferedChunks };
  const handler = new Handler(options);
  handler.on('wsClientError', (error, socket) =>
    refuseOn(socket as Socket, new GatewayError('invalid_request', error.message)),
  );
  return handler;
}

/** Max reads of a socket that ws keeps for one frame; each costs some hundred bytes beside its own. */
const maxBufferedChunks = 64 * 1024;

/** Grace time for a caller to answer a close frame. */
const closeTimeoutMs = 1000;

/** `close` follows. */
function ignore(): void {}
