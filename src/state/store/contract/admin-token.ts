/** Token of a script of the operator for `/admin/*` and `/metrics`; the token itself is never stored. */
export interface AdminToken {
  readonly id: string;
  /** Unique among all tokens: the audit log names it. */
  readonly name: string;
  /** Hex SHA-256 of the whole token. */
  readonly hash: string;
  /** The token's last four characters, to identify it. */
  readonly last4: string;
  /** Names of scopes; `*`: all. */
  readonly scopes: readonly string[];
  /** Name of the operator who issued it. */
  readonly createdBy: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAtMs: number;
  /** Absent: never. */
  readonly expiresAtMs?: number;
  /** Time of last use; late by some seconds, because it is written in batches. */
  readonly lastUsedAtMs?: number;
  /** Time of revocation; the token is refused from then on. */
  readonly revokedAtMs?: number;
}

export interface AdminTokens {
  findByHash(hash: string): Promise<AdminToken | undefined>;
  get(id: string): Promise<AdminToken | undefined>;
  /** Newest first. */
  list(): Promise<readonly AdminToken[]>;
  /** Returns false, and stores nothing, if another token has the name. */
  add(token: AdminToken): Promise<boolean>;
  /** Revokes a token; an already revoked one keeps its time. Returns it; undefined if there is none. */
  revoke(id: string, atMs: number): Promise<AdminToken | undefined>;
  delete(id: string): Promise<boolean>;
  /** Updates the last use of tokens by id; an earlier time than the known one changes nothing. */
  touch(usedAtMs: ReadonlyMap<string, number>): Promise<void>;
}
