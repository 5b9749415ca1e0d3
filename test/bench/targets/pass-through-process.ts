import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { Agent, request as ask } from 'undici';

/** The baseline: `node:http` in front of `undici.request`, piped, nothing parsed. */
const upstream = process.env['UPSTREAM'] ?? '';
const dispatcher = new Agent();

async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const answer = await ask(`${upstream}${incoming.url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: incoming,
    dispatcher,
  });
  outgoing.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) });
  pipeline(answer.body, outgoing, () => undefined);
}

const server = createServer((incoming, outgoing) => void relay(incoming, outgoing));

server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.({ port: (server.address() as AddressInfo).port }); // a TCP server's
});
