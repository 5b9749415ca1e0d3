import { createHmac, randomBytes } from 'node:crypto';
import type { SecretKey } from '../../state/store/index.js';

interface SessionKeys {
  readonly secretKey?: SecretKey | undefined;
  readonly masterKey: string;
}

/**
 * Creates names of sessions for the ledger: 16 characters, the same for a sticky key in every instance with the same
 * keys, and not reversible. A secret key that must be read from a file is not used, since names are made while a
 * request ends.
 */
export function createSessionNames({ secretKey, masterKey }: SessionKeys): (stickyKey: string) => string {
  const secret =
    (typeof secretKey === 'string' && secretKey) || masterKey || randomBytes(32).toString('base64');
  const key = createHmac('sha256', secret).update('gw2api sessions').digest();
  return (stickyKey) => createHmac('sha256', key).update(stickyKey).digest('hex').slice(0, 16);
}
