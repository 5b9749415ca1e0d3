import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { CollectedBytes } from '../../plugin/raw/index.js';
import { GatewayError, type Clock } from '../../plugin/index.js';
import { sendWithin, type InnerRequest, type InnerRoute } from '../../engine/http/connection/inner-client.js';
import type { SocketConnection } from './open-sockets.js';
import type { TrustedHops } from '../../engine/http/trusted-hops.js';

/** Answer by HTTP, instead of a WebSocket. */
export interface Refusal {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface HandshakeRoute extends InnerRoute {
  readonly connection: SocketConnection;
}

interface Limits {
  readonly clock: Clock;
  readonly handshakeTimeoutMs: number;
}

/**
 * Sends the request of a handshake through the stages, which check the key. Resolves to their answer if it refuses the
 * caller, else to undefined; throws a GatewayError if there is no WebSocket, or no answer in time.
 */
export async function shakeHands(
  request: Pick<InnerRequest, 'path' | 'headers'>,
  route: HandshakeRoute,
  { clock, handshakeTimeoutMs }: Limits,
): Promise<Refusal | undefined> {
  const sent = sendWithin({ ...request, method: 'GET' }, route);
  const leave = (): void => void sent.destroy();
  const cancel = clock.setTimer(leave, handshakeTimeoutMs);
  route.peer.once('close', leave);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('close', () => reject(noAnswer()));
    });
    const status = answer.statusCode ?? 500;
    if (status >= 400) {
      const body = await bodyOf(answer).catch((cause: unknown) => Promise.reject(noAnswer(cause)));
      return { status, fields: { ...fieldsOf(answer), 'content-length': String(body.length) }, body };
    }
    if (route.connection.isAdmitted) return void answer.resume();
    leave();
    throw new GatewayError('not_found', `No WebSocket is served at ${pathOf(request.path)}.`);
  } finally {
    cancel();
    route.peer.off('close', leave);
  }
}

function noAnswer(cause?: unknown): GatewayError {
  return new GatewayError('request_timeout', 'The key could not be checked in time; connect again.', {
    cause,
  });
}

function pathOf(url: string): string {
  return url.split('?')[0] ?? url;
}

/** Headers of an answer for a connection that ends with it. */
function fieldsOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !/^(?:connection|keep-alive|transfer-encoding)$/.test(name))
      fields[name] = [value].flat().join(', ');
  return { ...fields, connection: 'close' };
}

const maxBodyBytes = 1024 * 1024;

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    collected.add(chunk);
    if (collected.length > maxBodyBytes) break;
  }
  return collected.take();
}

/** Headers of a handshake that go with each request of its WebSocket. */
export function lastingHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string | string[]>> {
  const lasting: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !ownHeaders.test(name)) lasting[name] = value;
  return lasting;
}

/** Headers of one connection or one body, and those that would change the form of an answer's events. */
const ownHeaders =
  /^(?:connection|keep-alive|upgrade|http2-settings|te|trailer|transfer-encoding|expect|content-.*|accept-encoding|proxy-.*|sec-websocket-.*|x-request-id|x-gw-delivery)$/;

interface OriginRules {
  readonly origins: readonly string[];
  readonly hops: TrustedHops | undefined;
}

/**
 * Reason why a page may not open a WebSocket, for which browsers do not ask permission first. A client other than a
 * page sends no origin; `*` among the origins admits all.
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
