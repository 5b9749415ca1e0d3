import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { every } from '../../kit/time/clock.js';
import { GatewayError, type Clock } from '../../plugin/index.js';
import type { Delivery } from '../../engine/http/watch/caller-watch.js';
import { sendWithin, type InnerRequest, type InnerRoute } from '../../engine/http/connection/inner-client.js';
import { Outbox } from './outbox.js';
import { errorMessage, Turn } from './turn.js';

export interface SessionLimits {
  readonly pingIntervalMs: number;
  readonly idleTimeoutMs: number;
  readonly maxAgeMs: number;
}

interface SessionOptions extends SessionLimits {
  readonly clock: Clock;
  /** Path and headers of each request. */
  readonly request: Pick<InnerRequest, 'path' | 'headers'>;
  readonly route: InnerRoute;
  /** Max bytes of the messages in the queue. */
  readonly maxQueuedBytes: number;
  readonly errorBody: (error: GatewayError) => object;
}

/** Max messages in the queue. */
const maxQueued = 8;

/** An open WebSocket: one request for each message, one at a time. */
export class Session implements Delivery {
  readonly #webSocket: WebSocket;
  readonly #outbox: Outbox;
  readonly #options: SessionOptions;
  readonly #queue: Buffer[] = [];
  readonly #stopPings: () => void;
  readonly #cancelAge: () => void;
  #cancelIdle: () => void = () => undefined;
  #queuedBytes = 0;
  #turn: Turn | undefined;
  #movedBytes = -1;
  /** Ends the session once no answer is in progress. */
  #ending: (() => void) | undefined;

  constructor(webSocket: WebSocket, socket: Socket, options: SessionOptions) {
    const { clock, pingIntervalMs, maxAgeMs } = options;
    this.#webSocket = webSocket;
    this.#outbox = new Outbox(webSocket, socket);
    this.#options = options;
    webSocket.on('message', (data: RawData, isBinary) => this.#take(data as Buffer, isBinary)); // the default of binaryType
    webSocket.on('ping', () => this.#holdBack());
    webSocket.on('error', ignore).once('close', () => this.#closed());
    this.#stopPings = every(clock, pingIntervalMs, () => this.#ping());
    this.#cancelAge = clock.setTimer(() => this.#endWith(() => this.#tooOld()), maxAgeMs);
    this.#waitIdle();
  }

  /** Closes it for a shutdown: at once, or after the current answer. */
  drain(): void {
    this.#endWith(() => this.#outbox.close(1001, 'The gateway is shutting down.'));
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  get takenBytes(): number {
    return this.#outbox.takenBytes;
  }

  cut(): void {
    this.#outbox.cut();
  }

  get #isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN && !this.#outbox.isClosing;
  }

  #take(message: Buffer, isBinary: boolean): void {
    if (this.#ending || !this.#isOpen) return; // the caller sends it again on its next connection
    if (isBinary) return this.#refuse(notText());
    const isFull = this.#queue.length >= maxQueued || this.#queuedBytes > this.#options.maxQueuedBytes;
    if (isFull) return this.#refuse(tooMany());
    this.#queue.push(message);
    this.#queuedBytes += message.length;
    if (!this.#turn) this.#next();
  }

  #next(): void {
    if (this.#ending) return this.#ending();
    const body = this.#queue.shift();
    if (!body) return this.#waitIdle();
    this.#queuedBytes -= body.length;
    this.#cancelIdle();
    const { request, route } = this.#options;
    const headers = {
      ...request.headers,
      'content-type': 'application/json',
      'content-length': String(body.length),
    };
    const sent = sendWithin({ ...request, method: 'POST', headers, body }, route);
    this.#turn = new Turn(sent, this.#outbox, (status) => this.#ended(status));
  }

  #ended(status: number | undefined): void {
    this.#turn = undefined;
    if (!this.#isOpen) return;
    if (status === undefined) this.#outbox.close(1011, 'The answer broke off.');
    else if (status === 401) this.#outbox.close(1008, 'The key is no longer valid.');
    else this.#next();
  }

  #endWith(ending: () => void): void {
    if (this.#ending) return;
    this.#ending = ending;
    if (!this.#turn) ending();
  }

  #tooOld(): void {
    this.#refuse(connectionLimit());
    this.#outbox.close(1000, 'The connection has reached its max age.');
  }

  #waitIdle(): void {
    const { clock, idleTimeoutMs } = this.#options;
    this.#cancelIdle();
    this.#cancelIdle = clock.setTimer(
      () => this.#endWith(() => this.#outbox.close(1000, 'The connection was idle.')),
      idleTimeoutMs,
    );
  }

  /** Pings the caller; ends a connection without traffic since the last ping. */
  #ping(): void {
    if (this.#outbox.movedBytes === this.#movedBytes) return this.#webSocket.terminate();
    if (this.#isOpen) this.#webSocket.ping();
    this.#movedBytes = this.#outbox.movedBytes;
  }

  #refuse(error: GatewayError): void {
    this.#outbox.send([errorMessage(error.status, this.#options.errorBody(error))]);
    this.#holdBack();
  }

  /** Stops reading from a caller that does not read, until there is room. */
  #holdBack(): void {
    if (!this.#outbox.isFull || this.#webSocket.isPaused) return;
    this.#webSocket.pause();
    this.#outbox.onRoom(() => this.#webSocket.resume());
  }

  #closed(): void {
    this.#stopPings();
    this.#cancelAge();
    this.#cancelIdle();
    this.#queue.length = 0;
    this.#turn?.leave();
  }
}

/** `close` follows. */
function ignore(): void {}

function notText(): GatewayError {
  return new GatewayError('invalid_request', 'A message must be JSON in a text frame, not a binary one.');
}

function tooMany(): GatewayError {
  const message = 'Too many messages are queued; wait for the answers, or open another connection.';
  return new GatewayError('rate_limited', message);
}

/** Message in the vendor's words, which clients match. */
function connectionLimit(): GatewayError {
  const message = 'The connection has reached its max age. Create a new websocket connection to continue.';
  return new GatewayError('websocket_connection_limit_reached', message, {
    status: 400,
    type: 'invalid_request_error',
  });
}
