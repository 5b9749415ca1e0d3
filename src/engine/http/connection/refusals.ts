import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError, type ErrorCode } from '../../../plugin/index.js';
import { closeLingering } from './lingering-close.js';

/** Answers on a connection whose request has no ServerResponse, and ends it. */
export function refuseOn(socket: Socket, error: GatewayError): void {
  const { fields, body } = answerOf(error);
  answerOn(socket, { status: error.status, fields, body });
}

/** A whole answer, with its headers. */
interface WholeAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Writes an answer on such a connection, and ends it. */
export function answerOn(socket: Socket, { status, fields, body }: WholeAnswer): void {
  if (socket.writable) {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    socket.cork();
    socket.write(`${line}${lines.join('')}\r\n`, 'latin1');
    socket.write(body);
    socket.uncork();
  }
  closeLingering(socket);
}

/** Answers a request before any stage. */
export function refuse(response: ServerResponse, error: GatewayError): void {
  const { fields, body } = answerOf(error);
  response.writeHead(error.status, fields).end(body);
}

function answerOf(error: GatewayError): { fields: Record<string, string>; body: string } {
  const body = JSON.stringify(error);
  const fields = {
    ...error.headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  };
  return { fields, body };
}

/** Maps an error of Node's HTTP parser or of its time limits to a GatewayError. */
export function fromParser({ code = '' }: NodeJS.ErrnoException): GatewayError {
  const [known, message]: readonly [ErrorCode, string] = parserErrors[code] ?? [
    'invalid_request',
    'The request is not valid HTTP/1.1.',
  ];
  return new GatewayError(known, message);
}

const parserErrors: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are larger than 16 kB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body_too_large', 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The headers of the request did not arrive in time.'],
};

/** Reason why a parsed request cannot be served; undefined if it can. */
export function protocolErrorOf({ rawHeaders, httpVersion }: IncomingMessage): GatewayError | undefined {
  const hosts = hostsIn(rawHeaders);
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return undefined;
  const message =
    hosts === 0 ? 'A request in HTTP/1.1 needs a host header.' : 'A request must have one host header.';
  return new GatewayError('invalid_request', message);
}

/** Number of `host` headers; of several, `headers` has only the first. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

export function expectationFailed({ headers }: IncomingMessage): GatewayError {
  const message = `expect: must be "100-continue" or absent, not ${JSON.stringify(headers.expect)}.`;
  return new GatewayError('expectation_failed', message);
}

export function noTunnel(): GatewayError {
  const message = 'CONNECT is not supported: this is not a proxy. Send the request itself.';
  return new GatewayError('method_not_allowed', message, { headers: { allow: 'GET, HEAD, POST, OPTIONS' } });
}
