import { randomBytes, randomUUID } from 'node:crypto';
import type { AdminToken, AdminTokens } from '../store/contract/admin-token.js';
import type { Caches } from '../../plugin/core.js';
import type { Clock, Logger } from '../../plugin/index.js';
import { KeyCache } from './key-cache.js';
import { KeyUses } from './key-uses.js';
import { isGood } from '../store/key-rules.js';
import { hashOf } from './keys.js';

interface AdminTokensOptions {
  readonly store: AdminTokens;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Checks the admin tokens that scripts send, and records their use. */
export class CheckedAdminTokens {
  readonly #options: AdminTokensOptions;
  readonly #cache: KeyCache<AdminToken>;
  readonly #uses: KeyUses;

  constructor(options: AdminTokensOptions) {
    this.#options = options;
    const { store } = options;
    this.#cache = new KeyCache({ ...options, find: (hash) => store.findByHash(hash) });
    this.#uses = new KeyUses({ ...options, what: 'admin tokens' });
  }

  get caches(): Caches {
    return { ...this.#cache.caches('admin_tokens'), unwritten_admin_token_uses: () => this.#uses.fill };
  }

  /**
   * Looks up a sent token; undefined unless it is a valid admin token: known, not expired and not revoked. Throws a
   * GatewayError with status 503 if it is not cached and the store is unreachable.
   */
  async check(sent: string): Promise<AdminToken | undefined> {
    if (!sent.startsWith(adminTokenPrefix)) return undefined;
    const hash = hashOf(sent);
    const fresh = this.#cache.fresh(hash);
    const token = fresh ? fresh.known : await this.#cache.find(hash);
    const nowMs = this.#options.clock.now();
    if (!token || !isGood(token, nowMs)) return undefined;
    this.#uses.note(token.id, nowMs);
    return token;
  }

  /** True for a token that was valid within the last hour; does not read the store. */
  wasGood(sent: string): boolean {
    const token = this.#cache.lastKnown(hashOf(sent));
    return token !== undefined && isGood(token, this.#options.clock.now());
  }

  /** Invalidates the cache, so that a change takes effect at once; `ended`: hashes of tokens that have ended. */
  forget(ended?: readonly string[]): void {
    this.#cache.invalidate(ended);
  }

  /** Writes the last uses of tokens; after a failure the next flush retries. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  close(): Promise<void> {
    return this.#uses.close();
  }
}

const adminTokenPrefix = 'gw-adm-';

/** Fields of a new admin token. */
export type AdminTokenFields = Pick<AdminToken, 'name' | 'scopes' | 'createdBy' | 'expiresAtMs'>;

/** A new admin token: `text` is for the script, to be shown once; `token` is the stored part. */
export function issueAdminToken(
  fields: AdminTokenFields,
  nowMs: number,
): { readonly text: string; readonly token: AdminToken } {
  const text = `${adminTokenPrefix}${randomBytes(32).toString('base64url')}`;
  const own = { id: `adm_${randomUUID()}`, hash: hashOf(text), last4: text.slice(-4), createdAtMs: nowMs };
  return { text, token: { ...fields, ...own } };
}
