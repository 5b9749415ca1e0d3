import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, type Caller } from '../../../plugin/index.js';
import type { Connection } from '../../../plugin/core.js';
import type { Drain } from './drain.js';
import { protocolErrorOf, refuseOn } from './refusals.js';

/** Parts of a server for the handler of its upgrades. */
export interface UpgradeParts {
  readonly server: Server;
  readonly drain: Drain;
  /** Serves a connection from within the process. */
  readonly accept: (socket: Duplex) => void;
}

/** Upgraded connections of a server. */
export interface UpgradedConnections {
  readonly count: number;
  /** Ends all remaining ones. */
  terminate(): void;
}

/** Connection in its handshake, which the stages have admitted. */
export interface Handshake extends Connection {
  /** Admits the caller; `errorBody`: body of an error in the format. Throws `rate_limited`. */
  admit(caller: Caller | undefined, errorBody: (error: GatewayError) => object): void;
}

/** True for a request that asks for a WebSocket; others may be served without their upgrade (RFC 9110 §7.8). */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Makes a server answer WebSockets with 426, which shows callers that HTTP is available; ignores other upgrades. */
export function refuseWebSockets(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!asksForWebSocket(request)) return serveWithoutUpgrade(server, request, socket, head);
    socket.on('error', () => undefined); // `close` follows
    refuseOn(socket, protocolErrorOf(request) ?? webSocketsOff());
  });
}

function webSocketsOff(): GatewayError {
  const message = 'WebSockets are disabled here (listen.webSockets); POST the request over HTTP.';
  return new GatewayError('upgrade_required', message, { headers: { upgrade: 'HTTP/1.1' } });
}

/** Makes the server read a request again, without its requested upgrade (`h2c`, for example). */
export function serveWithoutUpgrade(
  server: Server,
  { method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (/^connection$/i.test(name)) lines.push(`${name}: ${withoutUpgrade(value)}`);
    else if (!/^(?:upgrade|http2-settings)$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !/^(?:upgrade|http2-settings)$/i.test(option)).join(', ');
}
