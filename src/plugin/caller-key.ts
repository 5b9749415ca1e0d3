import type { IncomingHttpHeaders } from 'node:http';
import type { Keys } from './contract/host.js';
import { GatewayError } from './error.js';

/**
 * The key that a caller sent: `x-api-key`, else `Authorization: Bearer`. Throws `missing_api_key` (contract
 * §5).
 */
export function callerKey(headers: IncomingHttpHeaders): string {
  const key = sentKey(headers);
  if (key !== undefined) return key;
  throw new GatewayError(
    'missing_api_key',
    'No API key was sent. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
  );
}

/** The key that a caller sent; undefined without one. */
export function sentKey(headers: IncomingHttpHeaders): string | undefined {
  const apiKey = headers['x-api-key'];
  return (typeof apiKey === 'string' ? apiKey.trim() : '') || bearerToken(headers.authorization) || undefined;
}

/**
 * Checks that a key is the master key (contract §5). Throws `invalid_api_key` for an unknown key, and
 * `forbidden` for a protocol key; `area` names what was called.
 */
export async function requireMasterKey(key: string, keys: Keys, area: string): Promise<void> {
  const known = await keys.check(key);
  if (!known)
    throw new GatewayError('invalid_api_key', 'The API key is not known here, has expired or was revoked.');
  if (known.kind === 'key')
    throw new GatewayError('forbidden', `A protocol key may call /v1/* only; ${area} needs the master key.`);
}

function bearerToken(authorization: string | undefined): string {
  return authorization?.match(/^bearer +(.+)$/i)?.[1]?.trim() ?? '';
}
