import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from './error.js';

/**
 * The key that a caller sent: `x-api-key`, else `Authorization: Bearer`. Throws `missing_api_key` (contract
 * §5).
 */
export function callerKey(headers: IncomingHttpHeaders): string {
  const apiKey = headers['x-api-key'];
  const key = (typeof apiKey === 'string' ? apiKey.trim() : '') || bearerToken(headers.authorization);
  if (key) return key;
  throw new GatewayError(
    'missing_api_key',
    'No API key was sent. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
  );
}

function bearerToken(authorization: string | undefined): string {
  return authorization?.match(/^bearer +(.+)$/i)?.[1]?.trim() ?? '';
}
