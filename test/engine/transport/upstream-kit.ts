import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server as SocketServer,
  type Socket,
} from 'node:net';
import { systemClock, type Logger, type ModelEvent, type ModelEvents } from '#src/plugin/index.js';
import type { Credential, SlotSettings, UpstreamCall } from '#src/plugin/upstream/index.js';
import messages from '#plugins/upstreams/messages/index.js';
import { OpenUpstream } from '#src/engine/slots/upstream/open-upstream.js';

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** What a server does with a request; unlike Node's own it may be asynchronous. */
export type Listener = (...args: Parameters<RequestListener>) => unknown;

/** Servers and upstreams of one test, closed by `close`. */
export class Kit {
  readonly #closers: (() => unknown)[] = [];

  /** A real HTTP server that takes addresses of any length, as some kinds put the model there; gives its base URL. */
  async serve(listener: Listener): Promise<string> {
    const server = createServer(
      { maxHeaderSize: 2 ** 20 },
      (request, response) => void listener(request, response),
    );
    this.#closers.push(() => server.closeAllConnections());
    return this.#listen(server);
  }

  /** A server that speaks whatever `onSocket` says; gives its base URL. */
  async serveSockets(onSocket: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createSocketServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => sockets.delete(socket));
      onSocket(socket);
    });
    this.#closers.push(() => sockets.forEach((socket) => socket.destroy()));
    return this.#listen(server);
  }

  async open(baseUrl: string, settings: Partial<SlotSettings> = {}): Promise<OpenUpstream> {
    const upstream = await openMessages({ baseUrl, ...settings });
    this.#closers.push(() => void upstream.close());
    return upstream;
  }

  onClose(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }

  async #listen(server: Server | SocketServer): Promise<string> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#closers.push(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  }
}

/** The `messages` upstream of a slot. */
export function openMessages(settings: Partial<SlotSettings>, clock = systemClock): Promise<OpenUpstream> {
  const slot = { id: 'team-a', headers: {}, connectTimeoutMs: 5000, maxConcurrent: 8, ...settings };
  const load = () => Promise.reject(new Error('It opens no other upstream.'));
  return OpenUpstream.open(slot, { plugin: messages, options: {} }, { load, log: silent, clock });
}

export function aCall({
  credential = {},
  ...overrides
}: Partial<UpstreamCall> & { readonly credential?: Credential } = {}): UpstreamCall {
  return {
    request: { model: 'm', max_tokens: 16, stream: true, messages: [{ role: 'user', content: 'hi' }] },
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    authorize: () => credential,
    ...overrides,
  };
}

/** All events of a stream, and what it threw. */
export async function collect(events: ModelEvents): Promise<{ events: ModelEvent[]; error: unknown }> {
  const all: ModelEvent[] = [];
  try {
    for await (const batch of events) all.push(...batch);
  } catch (error) {
    return { events: all, error };
  }
  return { events: all, error: undefined };
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was not rejected.');
}

/** A promise and what resolves it. */
export function later<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Resolves when the other side, or we, have closed or reset a socket. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

/** A turn of the event loop, after which undici takes a connection whose answer has ended for free. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

/** An event as it stands on the wire. */
export function sse(json: { readonly type: string }): string {
  return `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`;
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

/** The parts of a short answer, in order. */
export const answer = {
  start: sse({ type: 'message_start', message } as { type: string }),
  delta: (text: string) =>
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as { type: string }),
  stop: sse({ type: 'message_stop' }),
};

export const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' };
