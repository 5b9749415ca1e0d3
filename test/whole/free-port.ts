import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Port of the loopback address that nobody has at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server's
  server.close();
  return port;
}
