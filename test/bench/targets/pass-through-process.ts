import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/**
 * The baseline: `node:http` in front of one `undici.Pool`, the response piped, nothing parsed; in PROCESSES that
 * share a port. It is the least that a proxy in Node costs: `stream` writes to the caller without a body object.
 */
const processes = Number(process.env['PROCESSES'] ?? 1);
const upstream = process.env['UPSTREAM'] ?? '';
const pool = new Pool(upstream);

async function relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { 'content-type': type, 'content-length': length } = incoming.headers;
  const options = {
    method: 'POST',
    path: incoming.url ?? '/',
    headers: { 'content-type': type, 'content-length': length },
    body: incoming,
  } as const;
  await pool.stream(options, ({ statusCode, headers }) =>
    outgoing.writeHead(statusCode, { 'content-type': String(headers['content-type']) }),
  );
}

function serve(): void {
  const server = createServer((incoming, outgoing) => {
    relay(incoming, outgoing).catch(() => outgoing.destroy()); // one side has left
  });
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
