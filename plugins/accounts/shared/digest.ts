import { createHash } from 'node:crypto';

/** Digest of a secret, which identifies its tokens. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
