import { createHmac, randomBytes } from 'node:crypto';
import type { SecretKey } from './store/index.js';

export interface PseudonymKeys {
  readonly secretKey?: SecretKey;
  readonly masterKey: string;
}

/**
 * Makes opaque names: the same for the same text in every instance with the same keys, and without the key nobody can find
 * the text. Where there is neither key, names hold as long as the process.
 */
export function createPseudonyms({ secretKey, masterKey }: PseudonymKeys): (text: string) => Promise<string> {
  const own = randomBytes(32).toString('base64');
  return async (text) => {
    const secret = typeof secretKey === 'function' ? await secretKey() : secretKey;
    const key = secret || masterKey || own;
    return createHmac('sha256', key).update(`gw2api user\0${text}`).digest('hex');
  };
}
