import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';
import { masterKey } from './harness.js';

/** A message of the gateway, parsed. */
export interface Message {
  readonly type: string;
  readonly status?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly type: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly response?: Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
  readonly delta?: string;
  readonly sequence_number?: number;
}

const last = /^(?:error|response\.(?:completed|failed|incomplete))$/;

/** A caller of `/v1/responses` over WebSocket. */
export class SocketClient {
  readonly socket: WebSocket;
  /** Code and reason of its end. */
  readonly closed: Promise<string>;
  readonly #received: Message[] = [];
  readonly #waiting: ((message: Message) => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`.trim()));
    });
    socket.on('error', () => undefined); // `close` follows
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      const take = this.#waiting.shift();
      if (take) take(message);
      else this.#received.push(message);
    });
  }

  static async open(
    gateway: { readonly url: string },
    { path = '/v1/responses', key = masterKey, ...options }: ClientOptions & SocketTarget = {},
  ): Promise<SocketClient> {
    const socket = socketAt(gateway, { path, key, ...options });
    const client = new SocketClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** Sends a `response.create` for sonnet-5. */
  create(fields: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', model: 'sonnet-5', ...fields }));
  }

  /** The next message, now or as soon as it comes. */
  async next(): Promise<Message> {
    return this.#received.shift() ?? new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** All messages up to the last one of an answer. */
  async answer(): Promise<readonly Message[]> {
    const messages = [await this.next()];
    while (!last.test(messages.at(-1)!.type)) messages.push(await this.next());
    return messages;
  }

  /** The last message of the answer to a `response.create`. */
  async ask(fields: object): Promise<Message> {
    this.create(fields);
    return (await this.answer()).at(-1)!;
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

interface SocketTarget {
  readonly path?: string;
  /** Empty: none. */
  readonly key?: string;
}

function socketAt(
  { url }: { readonly url: string },
  { path = '/v1/responses', key = masterKey, headers, ...options }: ClientOptions & SocketTarget,
): WebSocket {
  const credential = key === '' ? {} : { authorization: `Bearer ${key}` };
  return new WebSocket(url.replace('http', 'ws') + path, {
    headers: { ...credential, ...headers },
    ...options,
  });
}

/** The HTTP answer in place of a WebSocket. */
export async function refusalOf(
  gateway: { readonly url: string },
  options: ClientOptions & SocketTarget,
): Promise<{ readonly status: number | undefined; readonly code: string; readonly headers: object }> {
  const socket = socketAt(gateway, options);
  socket.on('error', () => undefined);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const { error } = JSON.parse(Buffer.concat(chunks).toString()) as { error: { code: string } };
  return { status: answer.statusCode, code: error.code, headers: answer.headers };
}
