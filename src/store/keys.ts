import { createHash, timingSafeEqual } from 'node:crypto';
import type { Keys, Store } from '../plugin/index.js';

/** Checks what callers send against the master key and the store. An empty master key matches nothing. */
export function createKeys(masterKey: string, store: Store, now: () => number): Keys {
  const masterDigest = masterKey === '' ? undefined : digest(masterKey);
  return {
    async check(sent) {
      const sentDigest = digest(sent);
      if (masterDigest && timingSafeEqual(masterDigest, sentDigest)) return { kind: 'master' };
      if (!sent.startsWith(protocolKeyPrefix)) return undefined;
      const key = await store.keys.findByHash(sentDigest.toString('hex'));
      const isGood = key && !key.revoked && (key.expiresAtMs === undefined || key.expiresAtMs > now());
      return isGood ? { kind: 'key', key } : undefined;
    },
  };
}

/** Contract §2.4. */
export const protocolKeyPrefix = 'sk-gw-';

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
