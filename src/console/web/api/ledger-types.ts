import type { List } from './list.js';

/** Types of the ledger in the panel API. */

export interface Tokens {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
}

export type UsageGroup = 'key' | 'slot' | 'model' | 'format';

export interface UsageBucket {
  readonly at: string;
  readonly group: string | null;
  readonly name: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly billed: Tokens;
  readonly shown: Tokens;
  readonly first_event_ms_avg: number | null;
  readonly duration_ms_avg: number | null;
}

export interface Usage {
  readonly from: string;
  readonly to: string;
  readonly by: UsageGroup | null;
  readonly step_seconds: number;
  readonly data: readonly UsageBucket[];
}

export interface LedgerRequest {
  readonly id: string;
  readonly at: string;
  readonly request_id: string;
  readonly key: { readonly id: string; readonly name: string | null } | null;
  readonly slot: string | null;
  readonly model: string | null;
  readonly format: string;
  readonly status: number;
  readonly code: string | null;
  readonly failed: boolean;
  readonly streamed: boolean;
  readonly attempts: number;
  readonly first_event_ms: number | null;
  readonly duration_ms: number;
  readonly billed: Tokens;
  readonly shown: Tokens;
}

export interface StageTime {
  readonly stage: string;
  readonly ms: number;
}

export interface UpstreamCall {
  readonly slot: string;
  readonly ms: number;
  readonly code: string | null;
}

export interface OpenedRequest extends LedgerRequest {
  readonly stages: readonly StageTime[];
  /** Upstream calls in the order they were made. */
  readonly calls: readonly UpstreamCall[];
}

export interface RequestPage extends List<LedgerRequest> {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}
