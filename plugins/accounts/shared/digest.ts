import { createHash } from 'node:crypto';

/** Digest of a secret, by which its tokens are known. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
