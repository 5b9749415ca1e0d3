import { createServer, type RequestListener, type Server } from 'node:http';

/** The server in front of the app. */
export function createListener(handle: RequestListener): Server {
  const server = createServer((request, response) => {
    // A pipelined request waits for its turn to answer: until then its response is not told that the connection has
    // closed, and what it holds would be held for ever.
    if (response.socket) handle(request, response);
    else response.once('socket', () => handle(request, response));
  });
  // Long uploads and long answers are ours to bound, not Node's five-minute request timeout.
  server.requestTimeout = 0;
  return server;
}

/** Stops listening. Connections that do not end by themselves, as with half a request on them, are ended after `graceMs`. */
export async function closeListener(server: Server, graceMs: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  clearTimeout(timer);
}
