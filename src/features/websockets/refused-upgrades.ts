import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../../plugin/index.js';
import { protocolErrorOf, refuseOn } from '../../engine/http/refusals.js';
import type { TrustedHops } from '../../engine/http/trusted-hops.js';

/** True for a request that asks for a WebSocket; others may be served without their upgrade (RFC 9110 §7.8). */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Has a server answer WebSockets with 426, by which callers know that HTTP is there; other upgrades are left out. */
export function refuseWebSockets(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!asksForWebSocket(request)) return serveWithoutUpgrade(server, request, socket, head);
    socket.on('error', () => undefined); // `close` follows
    refuseOn(socket, protocolErrorOf(request) ?? webSocketsOff());
  });
}

function webSocketsOff(): GatewayError {
  const message = 'WebSockets are off here (listen.webSockets); POST the request over HTTP.';
  return new GatewayError('upgrade_required', message, { headers: { upgrade: 'HTTP/1.1' } });
}

/** Has the server read a request again, this time without the upgrade that it asks for: `h2c`, for example. */
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

interface OriginRules {
  readonly origins: readonly string[];
  readonly hops: TrustedHops | undefined;
}

/**
 * Why a page may not open a WebSocket: a browser asks no leave before it does. A client that is no page sends
 * no origin; `*` among the origins lets in all.
 */
export function originError(
  { headers, socket }: IncomingMessage,
  { origins, hops }: OriginRules,
): GatewayError | undefined {
  const { origin, host = '' } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return undefined;
  const forwarded = hops?.believes(socket) ? headers['x-forwarded-host'] : undefined;
  const named = String(forwarded ?? host)
    .split(',')[0]
    ?.trim();
  if (origin === `http://${named}` || origin === `https://${named}`) return undefined;
  return new GatewayError(
    'forbidden',
    `Pages of ${JSON.stringify(origin)} may not open a WebSocket here; listen.webSockets.origins names those that may.`,
  );
}
