import type { KeyLimits } from './key-limits.js';

/** Key issued to a caller; the key itself is never stored. */
export interface ProtocolKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** Hex SHA-256 of the whole key. */
  readonly hash: string;
  /** The key's last four characters, to tell it from others. */
  readonly last4: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAtMs: number;
  /** Time of last use; late by some seconds, because it is written in batches. */
  readonly lastUsedAtMs?: number;
  /** Absent: never. */
  readonly expiresAtMs?: number;
  /** Time of revocation; the key is refused from then on. */
  readonly revokedAtMs?: number;
  /** Catalog ids or globs that it may use; absent: all. */
  readonly models?: readonly string[];
  /** Slot ids or globs whose accounts it may use; absent: all. */
  readonly slots?: readonly string[];
  /** Id of its team, whose limits and budgets it shares; absent: none. */
  readonly team?: string;
  readonly note?: string;
  /** Secrets before the last rotations that have not ended, the oldest first; absent: none. */
  readonly formerSecrets?: readonly FormerSecret[];
}

/** Secret of a key: no more of it is kept than this. */
export type KeySecret = Pick<ProtocolKey, 'hash' | 'last4'>;

/** Secret that was replaced by a rotation, and is accepted until `endsAtMs` (unix milliseconds). */
export interface FormerSecret extends KeySecret {
  readonly endsAtMs: number;
}
