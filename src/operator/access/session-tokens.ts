import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../../state/store/contract/actor.js';

/** Tokens of console sessions, of which the store keeps only hashes. */
export class SessionTokens {
  readonly #keys: { readonly password: Buffer; readonly oidc: Buffer };

  /** `password`: keys the hashes, so that a new password ends every session of the old one. */
  constructor(password: string) {
    this.#keys = { password: sha256(password), oidc: sha256(`oidc ${password}`) };
  }

  make(kind: Actor['kind']): string {
    return `${kind === 'oidc' ? oidcPrefix : ''}${newToken()}`;
  }

  /**
   * Hash of a token; sessions of OpenID Connect have a separate key, so that a version without roles cannot find them.
   */
  hash(token: string): string {
    const key = token.startsWith(oidcPrefix) ? this.#keys.oidc : this.#keys.password;
    return createHmac('sha256', key).update(token).digest('hex');
  }
}

const oidcPrefix = 'oidc.';

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
