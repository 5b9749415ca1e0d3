import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, callerKey, type Keys } from '../plugin/index.js';

/**
 * Lets only the master key through (contract §5): no key 401 `missing_api_key`, an unknown one 401
 * `invalid_api_key`, a protocol key 403 `forbidden`.
 */
export async function requireMaster(headers: IncomingHttpHeaders, keys: Keys, area: string): Promise<void> {
  const key = callerKey(headers);
  const known = await keys.check(key);
  if (!known)
    throw new GatewayError('invalid_api_key', 'The API key is not known here, has expired or was revoked.');
  if (known.kind === 'key') {
    throw new GatewayError('forbidden', `A protocol key may call /v1/* only; ${area} needs the master key.`);
  }
}
