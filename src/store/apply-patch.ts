import type { KeyPatch, ProtocolKey } from '../plugin/index.js';

/** A key with a patch laid over it: null takes a field away. */
export function applyPatch(key: ProtocolKey, patch: KeyPatch): ProtocolKey {
  const fields = Object.entries({ ...key, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(fields) as unknown as ProtocolKey; // a patch cannot take away what a key must have
}
