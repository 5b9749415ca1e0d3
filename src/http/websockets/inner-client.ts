import { request, type ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { connectionKey, type Connection } from '../../plugin/internal.js';
import { MemorySocket } from '../memory-socket.js';

/** Request of a WebSocket: its handshake, or a message. */
export interface InnerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer;
}

/**
 * Sends a request to a server of this process, on a connection of its own that `accept` is given. It comes from
 * the address of `peer`, and from its WebSocket `connection`.
 */
export function sendWithin(
  { method, path, headers, body }: InnerRequest,
  { accept, peer, connection }: InnerRoute,
): ClientRequest {
  const { remoteAddress, remoteFamily, remotePort } = peer;
  const [near, far] = MemorySocket.pair({ remoteAddress, remoteFamily, remotePort });
  const sent = request({
    createConnection: () => near,
    method,
    path,
    headers: { ...headers, connection: 'close' },
  });
  accept(Object.assign(far, { [connectionKey]: connection })); // not before `request`, which refuses some paths
  sent.on('error', ignore).end(body);
  return sent;
}

export interface InnerRoute {
  readonly accept: (socket: Duplex) => void;
  readonly peer: Socket;
  readonly connection: Connection;
}

/** `close` follows. */
function ignore(): void {}
