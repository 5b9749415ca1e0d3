import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** A request as it reached the upstream. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the upstream answers; status 200 and an event stream unless it says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Each one arrives by itself: the reader has had a turn before the next is written. */
  readonly pieces: readonly (string | Buffer)[];
}

export interface Replay {
  /** Without a trailing slash. */
  readonly url: string;
  /** All requests so far, the oldest first. */
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** An upstream that answers with recordings and keeps what it was asked; 404 where `answer` has nothing to say. */
export async function startReplay(answer: (received: Received) => Answer | undefined): Promise<Replay> {
  const received: Received[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const asked = await read(request);
    received.push(asked);
    await send(response, answer(asked) ?? notFound);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    received,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The text of the last user message, by which a test tells its requests apart, in whatever format they came. */
export function promptOf({ body }: Pick<Received, 'body'>): string {
  const messages = body['messages'] as readonly { readonly role: string; readonly content: unknown }[];
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  if (typeof content === 'string') return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('');
}

/** A JSON answer. */
export function json(value: unknown, status = 200, headers: Answer['headers'] = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    pieces: [JSON.stringify(value)],
  };
}

const notFound = json({ type: 'error', error: { type: 'not_found_error', message: 'Not found' } }, 404);

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Received['body'];
  return { path: request.url ?? '', headers: request.headers, body };
}

async function send(response: ServerResponse, { status = 200, headers, pieces }: Answer): Promise<void> {
  response.writeHead(status, { 'content-type': 'text/event-stream; charset=utf-8', ...spread(headers) });
  response.flushHeaders();
  await setImmediate();
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    await setImmediate();
  }
  response.end();
}

/** Node takes its headers by mutable lists. */
function spread(headers: Answer['headers'] = {}): Record<string, string | string[]> {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
