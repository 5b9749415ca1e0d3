import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { messageEvents } from '@gw2api/gateway/testing';

/** An upstream whose answers say the time, every some milliseconds. */
export interface TickingUpstream {
  readonly url: string;
  close(): void;
}

export const ticks = 40;
const tickMs = 25;

export async function startTickingUpstream(): Promise<TickingUpstream> {
  const server = createServer((request, response) => {
    request.resume();
    void tick(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function tick(response: ServerResponse): Promise<void> {
  const [start, block, , ...rest] = messageEvents();
  const write = (event: unknown) => {
    const { type } = event as { readonly type: string };
    response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of [start, block]) write(event);
  for (let count = 0; count < ticks && !response.destroyed; count += 1) {
    write({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: `<${performance.now()}>` },
    });
    await delay(tickMs);
  }
  for (const event of rest) write(event);
  response.end();
}

/** Times that the ticks of an answer took, in ms; throws for an answer that is not whole. */
export async function tickDelays(response: Response): Promise<readonly number[]> {
  const delays: number[] = [];
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const nowMs = performance.now();
    for (const [, at] of chunk.matchAll(/<([\d.]+)>/g)) delays.push(nowMs - Number(at));
    text += chunk;
  }
  const seen = [...text.matchAll(/<([\d.]+)>/g)].length;
  if (seen !== ticks || !text.includes('message_stop'))
    throw new Error(`An answer has ${seen} of ${ticks} events.`);
  return delays;
}

export function p99(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0;
}
