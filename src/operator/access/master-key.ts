import { GatewayError } from '../../plugin/index.js';
import type { Keys } from '../../plugin/core.js';

/**
 * Checks that a key is the master key (contract §5). Throws `invalid_api_key` for an unknown key, and
 * `forbidden` for a protocol key; `area` names what was called.
 */
export async function requireMasterKey(key: string, keys: Keys, area: string): Promise<void> {
  const known = await keys.check(key);
  if (!known) throw new GatewayError('invalid_api_key', 'The API key is unknown, expired or revoked.');
  if (known.kind === 'key')
    throw new GatewayError('forbidden', `A protocol key may call /v1/* only; ${area} needs the master key.`);
}
