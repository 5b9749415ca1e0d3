import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../plugin/index.js';
import type { TrustedHops } from '../../engine/http/trusted-hops.js';

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
