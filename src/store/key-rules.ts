import type { KeyPatch, ProtocolKey } from '../plugin/internal.js';

/** Applies a merge patch to a key: null removes a field. */
export function applyPatch(key: ProtocolKey, patch: KeyPatch): ProtocolKey {
  const fields = Object.entries({ ...key, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(fields) as unknown as ProtocolKey; // a patch cannot remove required fields
}

/** Max number of names of deleted keys that a store keeps; the oldest are deleted first. */
export const maxDeletedNames = 10_000;
