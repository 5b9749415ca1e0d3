import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SecretKey } from '../../state/store/index.js';

interface PseudonymKeys {
  readonly secretKey?: SecretKey;
  readonly masterKey: string;
}

/**
 * Creates opaque names: the same for the same text in every instance with the same keys, and not reversible
 * without the key. If there is no key at all, names are stable only for the life of the process.
 */
export function createPseudonyms(keys: PseudonymKeys): (text: string) => Promise<string> {
  const own = randomBytes(32).toString('base64');
  let known: string | undefined;
  return async (text) => {
    const key = (known ??= (await keyOf(keys)) || own);
    return createHmac('sha256', key).update(`gw2api user\0${text}`).digest('hex');
  };
}

async function keyOf({ secretKey, masterKey }: PseudonymKeys): Promise<string> {
  const secret = typeof secretKey === 'function' ? await secretKey() : secretKey;
  return secret || masterKey;
}

interface SessionKeys {
  readonly secretKey?: SecretKey | undefined;
  readonly masterKey: string;
}

/**
 * Creates names of sessions for the ledger: 16 characters, the same for a sticky key in every instance with the same
 * keys, and not reversible. Does not use a secret key that must be read from a file, since names are made while a
 * request ends.
 */
export function createSessionNames({ secretKey, masterKey }: SessionKeys): (stickyKey: string) => string {
  const secret =
    (typeof secretKey === 'string' && secretKey) || masterKey || randomBytes(32).toString('base64');
  // A KeyObject: Node imports the bytes of any other key anew for each HMAC.
  const key = createSecretKey(createHmac('sha256', secret).update('gw2api sessions').digest());
  const names = new LRUCache<string, string>({
    max: maxSessionNames,
    memoMethod: (stickyKey) => createHmac('sha256', key).update(stickyKey).digest('hex').slice(0, 16),
  });
  return (stickyKey) => names.memo(stickyKey);
}

/** Each saves an HMAC, 2 to 13 µs by version of Node; a sticky key has the length of a hash. */
const maxSessionNames = 1000;
