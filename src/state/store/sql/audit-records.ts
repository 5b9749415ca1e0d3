/** Row of the audit log. */
export interface AuditRecord {
  readonly at: number;
  readonly id: string;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly action: string;
  readonly target: string | null;
  readonly outcome: string;
  readonly code: string | null;
  /** JSON, as `after` is. */
  readonly before: string | null;
  readonly after: string | null;
  readonly address: string | null;
  readonly request_id: string | null;
}

/** Row of an admin token. */
export interface AdminTokenRecord {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly last4: string;
  /** JSON. */
  readonly scopes: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}
