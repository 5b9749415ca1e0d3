import type { LatencyKind } from '../../../ledger/latency/latency-reading.js';
import type { LedgerRecord } from '../../../ledger/columns.js';
import type { SumRecord } from '../../../ledger/sums.js';
import type { LatencyMeasure } from '../../../ledger/contract.js';
import type { UsageGroup } from '../../../../plugin/core.js';
import type { AdminTokenRecord, AuditRecord } from '../audit-records.js';
import type { SlotChangeRecord, WindowSampleRecord } from '../slot-history-records.js';

/** The tables, as migrations.ts makes them. Times are unix milliseconds; truth is 0 or 1. */
export interface Tables {
  readonly keys: KeyRecord;
  readonly former_secrets: FormerSecretRecord;
  readonly teams: TeamRecord;
  readonly deleted_keys: DeletedKeyRecord;
  readonly credentials: CredentialRecord;
  readonly slots: SlotRecord;
  readonly slot_states: SlotStateRecord;
  readonly slot_changes: SlotChangeRecord;
  readonly window_samples: WindowSampleRecord;
  readonly sessions: SessionRecord;
  readonly bindings: BindingRecord;
  readonly responses: ResponseRecord;
  readonly response_totals: ResponseTotalRecord;
  readonly plugin_values: PluginValueRecord;
  readonly audit: AuditRecord;
  readonly admin_tokens: AdminTokenRecord;
  readonly ledger: LedgerRecord;
  readonly ledger_errors: ErrorTextRecord;
  readonly ledger_sums: HourRecord;
  readonly ledger_latency: LatencyRecord;
  readonly ledger_pairs: PairRecord;
  readonly ledger_pair_hours: PairHourRecord;
}

/** Limits of a key or a team. */
export interface LimitRecord {
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly tokens_per_day: number | null;
  readonly tokens_per_month: number | null;
  readonly usd_per_day: number | null;
  readonly usd_per_month: number | null;
  readonly max_concurrent: number | null;
}

export interface KeyRecord extends LimitRecord {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly last4: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  /** JSON. */
  readonly models: string | null;
  /** JSON. */
  readonly slots: string | null;
  /** Id of a team. */
  readonly team: string | null;
  readonly pipeline: string | null;
  readonly note: string | null;
  /** JSON. */
  readonly former_secrets: string | null;
}

interface FormerSecretRecord {
  readonly hash: string;
  readonly key_id: string;
}

export interface TeamRecord extends LimitRecord {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly pipeline: string | null;
  readonly note: string | null;
}

/** Of keys and teams, whose ids differ. */
interface DeletedKeyRecord {
  readonly id: string;
  readonly name: string;
  readonly deleted_at: number;
}

interface CredentialRecord {
  readonly slot_id: string;
  readonly sealed: string;
}

export interface SlotRecord {
  readonly id: string;
  /** Sealed, as the account is. */
  readonly settings: string;
  readonly sealed_account: string;
  readonly created_at: number;
  readonly updated_at: number;
}

interface SlotStateRecord {
  readonly key: string;
  /** JSON. */
  readonly value: string;
  /** Null: never. */
  readonly expires_at: number | null;
}

export interface SessionRecord {
  readonly token_hash: string;
  readonly csrf_hash: string;
  readonly created_at: number;
  readonly expires_at: number;
  /** Null in the rows of versions that only had the password; as are all columns below. */
  readonly actor_kind: string | null;
  readonly actor_name: string | null;
  readonly role: string | null;
  readonly last_seen_at: number | null;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly subject_issuer: string | null;
  readonly subject_id: string | null;
}

interface BindingRecord {
  readonly sticky_key: string;
  readonly slot_id: string;
  readonly expires_at: number;
}

interface ResponseRecord {
  readonly owner: string;
  readonly id: string;
  /** JSON of `response`; in rows from before the column `input`, of both. */
  readonly body: string;
  readonly expires_at: number;
  /** JSON. */
  readonly input: string | null;
  /** Size of `body` and `input` in UTF-8. */
  readonly bytes: number;
  readonly created_at: number;
}

/** Written by triggers of `responses`. */
interface ResponseTotalRecord {
  readonly owner: string;
  readonly responses: number;
  readonly bytes: number;
}

interface PluginValueRecord {
  readonly space: string;
  readonly key: string;
  /** JSON. */
  readonly value: string;
  /** Null: never. */
  readonly expires_at: number | null;
}

/** Kind of hourly sum: a group, `tag` for the names of tags, `tag:NAME` for the values of one. */
export type SumKind = UsageGroup | `tag:${string}`;

/** Error texts of a row of the ledger. */
interface ErrorTextRecord {
  readonly at: number;
  readonly id: string;
  /** JSON. */
  readonly texts: string;
}

/**
 * Sum of one hour and one group, not of combined groups: keys times slots times models would be as many sums as rows.
 * Pairs of them have separate sums, once their hour has ended.
 */
interface HourRecord extends SumRecord {
  readonly kind: SumKind;
  /** Start of the hour. */
  readonly at: number;
  /** A key id, team id, slot, model, asked model, format, tag, value of a tag, stage or cause. */
  readonly name: string;
}

/** Sum of one hour and two groups. */
interface PairRecord extends SumRecord {
  /** Both groups: `slot+model`. */
  readonly kind: string;
  /** Start of the hour. */
  readonly at: number;
  readonly first_name: string;
  readonly second_name: string;
}

/** Hour with sums of pairs, which are valid while the hour's number of requests is unchanged. */
interface PairHourRecord {
  /** Start of the hour. */
  readonly at: number;
  readonly requests: number;
  /** 0: there are no sums, as the hour has too many requests, or could not be summed. */
  readonly has_sums: number;
}

/** Number of times of one hour, group and measure in one bucket (`bucketOf`). */
interface LatencyRecord {
  readonly kind: LatencyKind;
  /** Start of the hour. */
  readonly at: number;
  readonly name: string;
  readonly measure: LatencyMeasure;
  readonly bucket: number;
  readonly count: number;
}
