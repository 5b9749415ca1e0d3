import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageEvents, type MessageOptions } from '@gw2api/gateway/testing';
import type { MessagesStreamEvent } from '@gw2api/gateway/plugin';

/** An answer that goes on when the test says so. */
export interface HeldAnswer {
  /** The key that the call came with. */
  readonly credential: string;
  /** The text of the request. */
  readonly text: string;
  /** Sends a further delta of the text. */
  say(text: string): void;
  /** Sends what is missing of the turn. */
  finish(): void;
  /** Breaks the connection off. */
  breakOff(): void;
  /** Settles when the answer is out or the caller has left; true: it was finished. */
  readonly closed: Promise<boolean>;
}

export interface HeldUpstream {
  /** Without a trailing slash. */
  readonly url: string;
  /** The next call, once its answer has begun: with `message_start`, a text block, and `Hello.` in it. */
  next(): Promise<HeldAnswer>;
  close(): Promise<void>;
}

/** A Messages upstream whose every answer stays open until the test ends it. */
export async function startHeldUpstream(message: MessageOptions = {}): Promise<HeldUpstream> {
  const begun: HeldAnswer[] = [];
  const waiting: ((answer: HeldAnswer) => void)[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await read(request);
    if (request.url?.split('?')[0] !== '/v1/messages') return void response.writeHead(404).end();
    const answer = begin(request, response, text, message);
    const take = waiting.shift();
    if (take) take(answer);
    else begun.push(answer);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    next: async () => begun.shift() ?? new Promise((resolve) => void waiting.push(resolve)),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `message_start`, the start of the block and its one delta are out at once; the three that close the turn are kept. */
function begin(
  { headers }: IncomingMessage,
  response: ServerResponse,
  text: string,
  message: MessageOptions,
): HeldAnswer {
  const events = messageEvents(message);
  const write = (parts: readonly MessagesStreamEvent[]) => void response.write(parts.map(frame).join(''));
  const closed = once(response, 'close').then(() => response.writableFinished);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  write(events.slice(0, 3));
  return {
    credential: String(headers['x-api-key'] ?? headers.authorization),
    text,
    say: (more) =>
      write([{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: more } }]),
    finish: () => {
      write(events.slice(3));
      response.end();
    },
    breakOff: () => void response.destroy(),
    closed,
  };
}

function frame(event: MessagesStreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk); // without an encoding they are buffers
  return Buffer.concat(chunks).toString();
}
