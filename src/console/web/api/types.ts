import type { List } from './list.js';

/** Types of the panel API: snake case, times in ISO 8601 UTC. */

export type * from './ledger-types.js';
export type { List } from './list.js';

export interface Session {
  readonly kind: 'session' | 'master';
  readonly expires_at: string | null;
}

export interface Status {
  readonly name: string;
  readonly version: string;
  readonly uptime_seconds: number;
  readonly requests_in_flight: number;
  /** Number of instances that have answered and are counted in `requests_in_flight`. */
  readonly requests_in_flight_instances: number;
  readonly slots: { readonly total: number; readonly schedulable: number };
  readonly store: {
    readonly kind: string;
    readonly ok: boolean;
    readonly ledger_rows_waiting: number;
    readonly responses: { readonly count: number; readonly bytes: number } | null;
  };
  readonly live: { readonly kind: string; readonly ok: boolean; readonly instances: number };
  readonly config_file: string | null;
  readonly base_url: string;
}

/** Settings of a protocol key; null: not set. */
export interface KeySettings {
  readonly name: string;
  readonly expires_at: string | null;
  readonly models: readonly string[] | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly tokens_per_day: number | null;
  readonly tokens_per_month: number | null;
  readonly max_concurrent: number | null;
  readonly note: string | null;
}

export interface Key extends KeySettings {
  readonly id: string;
  readonly last4: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

/** A new key with its secret text, sent only once. */
export interface IssuedKey extends Key {
  readonly key: string;
}

export type SlotState = 'ready' | 'cooling' | 'rejected' | 'paused' | 'draining' | 'unusable';
export type CoolReason = 'rate_limited' | 'overloaded' | 'unreachable' | 'window_exhausted';

export interface Window {
  readonly percent_used: number;
  readonly resets_at: string;
}

export interface CoolingModel {
  readonly model: string;
  readonly reason: CoolReason;
  readonly until: string;
}

export type AccountKind = 'api-key' | 'oauth' | 'none';

/** The readable part of an account; secrets can be written but not read. */
export type Account = { readonly kind: AccountKind } & Readonly<Record<string, unknown>>;

/** An entry under `slots:` in the config file, without its id. */
export interface SlotSettings {
  readonly upstream?: string;
  readonly baseUrl?: string;
  readonly account?: Account;
  readonly models?: string | readonly string[];
  readonly maxConcurrent?: number;
  readonly weight?: number;
  readonly proxy?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeout?: string;
}

/** A merge patch: null deletes a field, missing fields stay. */
export type SlotPatch = { readonly [Field in keyof SlotSettings]?: unknown };

export interface Slot {
  readonly id: string;
  readonly upstream: string;
  readonly account: AccountKind;
  readonly state: SlotState;
  readonly reason: CoolReason | null;
  readonly until: string | null;
  readonly cooling_models: readonly CoolingModel[];
  readonly in_flight: number;
  readonly queued: number;
  readonly max_concurrent: number;
  readonly weight: number;
  readonly models: readonly string[];
  readonly bindings: number;
  readonly windows: { readonly '5h': Window | null; readonly '7d': Window | null };
  readonly last_error: string | null;
  readonly last_error_at: string | null;
  readonly source: 'config' | 'console';
  /** Position in the config file. */
  readonly place: string | null;
  readonly settings: SlotSettings;
  readonly updated_at: string | null;
  /** The reason why the slot is not in the pool. */
  readonly problem: string | null;
}

export type SlotVerb = 'pause' | 'resume' | 'drain';

export interface DiagnosisStep {
  readonly step: string;
  readonly ok: boolean;
  readonly skipped?: boolean;
  readonly ms: number;
  readonly detail: string;
}

export interface Diagnosis {
  readonly slot: string;
  readonly ok: boolean;
  readonly steps: readonly DiagnosisStep[];
}

export interface Stage {
  readonly name: string;
  readonly use: string;
  readonly enabled: boolean;
  readonly when: Readonly<Record<string, string | readonly string[]>> | null;
  readonly path: string;
  readonly place: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly seals: readonly string[];
  readonly operations: readonly string[];
}

export interface Pipeline extends List<Stage> {
  readonly file: string | null;
}

export interface Model {
  readonly id: string;
  readonly display_name: string;
  readonly max_tokens: number;
  readonly context_window: number | null;
}
