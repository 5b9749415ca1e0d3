import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UpstreamKind } from '../../plugin/core.js';
import { MemorySocket } from '../../engine/http/connection/memory-socket.js';

type StandIn = NonNullable<UpstreamKind['standIn']>;

/** Server with the wire protocol of a kind of upstream, in front of the simulator of its slot. */
export function standInServer(standIn: StandIn, simulator: Server): Server {
  return createServer((incoming, outgoing) => {
    const left = new AbortController();
    const gone = new Error('The caller has left.');
    outgoing.once('close', () => left.abort(gone));
    const label = incoming.headers[labelHeader];
    const messages = (request: Request) => {
      if (label !== undefined) request.headers.set(labelHeader, String(label));
      return askSimulator(request, simulator, left.signal);
    };
    answer(incoming, outgoing, (request) => standIn(request, messages)).catch((error: unknown) => {
      if (error instanceof BrokenConnection || outgoing.headersSent) destroy(incoming);
      else outgoing.writeHead(500, { 'content-type': 'text/plain' }).end(faultOf(error));
    });
  });
}

/** Header of the simulator with the label of a call that a stage makes. */
export const labelHeader = 'x-simulator-label';

/** Error of a connection that the simulator has ended instead of answering. */
class BrokenConnection extends Error {}

function faultOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The stand-in for this kind of upstream failed: ${message}`;
}

/** Socket at one end of a pair in memory, possibly closed already. */
function destroy({ socket }: IncomingMessage): void {
  if (!socket.destroyed) socket.resetAndDestroy();
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: (request: Request) => Promise<Response>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer); // no encoding is set
  const response = await respond(requestOf(incoming, Buffer.concat(chunks)));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}

function requestOf({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer): Request {
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(`http://dry-run${url}`, { method, headers: fields, ...(hasBody && { body }) });
}

/** Headers that the simulator requires, like any service of the Messages API. */
const usualHeaders = { 'anthropic-version': '2023-06-01', 'x-api-key': 'dry-run' };

/** Headers that belong to one connection, or to one body. */
const ownHeaders = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'];

/** Answer of the simulator; rejects if it breaks off the connection before it has answered. */
async function askSimulator(request: Request, simulator: Server, signal: AbortSignal): Promise<Response> {
  const [near, far] = MemorySocket.pair();
  simulator.emit('connection', far);
  const { pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const headers: Record<string, string | number> = {
    ...usualHeaders,
    ...Object.fromEntries(request.headers),
    'content-type': 'application/json', // a text in a Request is plain text otherwise
  };
  for (const name of ownHeaders) delete headers[name];
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = httpRequest({
      createConnection: () => near,
      method: request.method,
      path: pathname + search,
      headers: { host: 'simulator', ...headers, ...(body.length > 0 && { 'content-length': body.length }) },
    });
    asked.once('response', resolve);
    asked.once('error', (error) => reject(new BrokenConnection(error.message)));
    signal.addEventListener('abort', () => asked.destroy());
    asked.end(body);
  });
  const fields = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, {
    // a stream of bytes
    status: incoming.statusCode ?? 500,
    headers: fields.filter(([name]) => !ownHeaders.includes(name)),
  });
}
