import type { KeyPatch, ProtocolKey } from '../plugin/index.js';

/** Applies a merge patch to a key: null removes a field. */
export function applyPatch(key: ProtocolKey, patch: KeyPatch): ProtocolKey {
  const fields = Object.entries({ ...key, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(fields) as unknown as ProtocolKey; // a patch cannot take away what a key must have
}
