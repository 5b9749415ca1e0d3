import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyPatch, ProtocolKey } from '../plugin/index.js';
import { hashOf, protocolKeyPrefix } from './keys.js';
import { applyPatch } from '../store/apply-patch.js';

/** Fields of a new key. */
export type KeyFields = KeyPatch & { readonly name: string };

/** A new protocol key: `text` is what the caller sends, to be shown once; `key` is all that is kept of it. */
export function issueKey(
  fields: KeyFields,
  nowMs: number,
): { readonly text: string; readonly key: ProtocolKey } {
  const text = `${protocolKeyPrefix}${randomBytes(32).toString('base64url')}`;
  const bare = {
    id: `key_${randomUUID()}`,
    name: fields.name,
    hash: hashOf(text),
    last4: text.slice(-4),
    createdAtMs: nowMs,
  };
  return { text, key: applyPatch(bare, fields) };
}
