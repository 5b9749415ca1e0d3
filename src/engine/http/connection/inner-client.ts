import { request, type ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { connectionKey, type Connection } from '../../../plugin/core.js';
import { MemorySocket } from './memory-socket.js';

/** Request from within the process: the handshake or a message of a WebSocket, or one of the playground. */
export interface InnerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer;
}

/**
 * Sends a request to a server of this process, on its own connection, which `accept` receives. The request has the
 * address of `peer`, and its WebSocket `connection` if there is one.
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
  accept(connection ? Object.assign(far, { [connectionKey]: connection }) : far); // not before `request`, which refuses some paths
  sent.on('error', ignore).end(body);
  return sent;
}

export interface InnerRoute {
  readonly accept: (socket: Duplex) => void;
  readonly peer: Socket;
  /** Absent: the request does not come from a WebSocket. */
  readonly connection?: Connection;
}

/** `close` follows. */
function ignore(): void {}
