import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { Agent, request as ask } from 'undici';

/** The baseline: `node:http` in front of `undici.request`, piped, nothing parsed; in PROCESSES that share a port. */
const processes = Number(process.env['PROCESSES'] ?? 1);
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

function serve(): void {
  const server = createServer((incoming, outgoing) => void relay(incoming, outgoing));
  server.listen(0, '127.0.0.1', 2048, () => {
    if (cluster.isPrimary) tell((server.address() as AddressInfo).port); // a TCP server's
  });
}

/** Each gets every second connection, as the gateway's workers do. */
function serveFromWorkers(): void {
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    if ((listening += 1) === processes) tell(port);
  });
  for (let count = 0; count < processes; count += 1) cluster.fork();
}

function tell(port: number): void {
  process.send?.({ port });
}

if (processes > 1 && cluster.isPrimary) serveFromWorkers();
else serve();
