import type { WireFormat } from './operation.js';

/** Tokens of one request, or of many. */
export interface LedgerTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
}

/** One request as the ledger keeps it: never a body, never a secret. */
export interface LedgerRow {
  /** Unique, made once for each request: a row that is appended again is the same row. */
  readonly id: string;
  /** When the request came, unix milliseconds. */
  readonly atMs: number;
  /** As callers see it; they may send one twice. */
  readonly requestId: string;
  readonly keyId?: string;
  readonly slot?: string;
  /** As the caller asked for it. */
  readonly model?: string;
  readonly format: WireFormat;
  /** 499 where the caller left before there was one. */
  readonly status: number;
  /** The error's code. */
  readonly code?: string;
  /** The caller got no whole answer, through no doing of its own leaving. */
  readonly failed: boolean;
  readonly streamed: boolean;
  readonly attempts: number;
  /** From the request's first byte to the answer's first event. */
  readonly firstEventMs?: number;
  readonly durationMs: number;
  /** As the upstream billed it. */
  readonly billed: LedgerTokens;
  /** As the caller was told. */
  readonly shown: LedgerTokens;
  /** Where its time has gone; in a list it is left out. */
  readonly trace?: LedgerTrace;
}

/** The way of one request: its stages, and its upstream calls in their order. */
export interface LedgerTrace {
  readonly stages: readonly { readonly stage: string; readonly ms: number }[];
  readonly calls: readonly { readonly slot: string; readonly ms: number; readonly code?: string }[];
}

/** Every given part must match; times in unix milliseconds, `fromMs` included and `toMs` not. */
export interface LedgerFilter {
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly keyId?: string;
  readonly slot?: string;
  readonly model?: string;
  readonly format?: WireFormat;
  readonly status?: number;
  readonly code?: string;
  readonly failed?: boolean;
  readonly requestId?: string;
}

export interface LedgerPage {
  /** Newest first, without their traces. */
  readonly rows: readonly LedgerRow[];
  /** What gives the next page; absent: there is none. */
  readonly cursor?: string;
}

export type UsageGroup = 'key' | 'slot' | 'model' | 'format';

export interface UsageQuery {
  /** Unix milliseconds, `fromMs` included and `toMs` not. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: UsageGroup | null;
  /** Only requests with this key. */
  readonly keyId?: string;
  /**
   * The length of a bucket; the first one begins at `fromMs`. Whole hours are answered from the hourly sums, and the
   * time asked for is then widened to whole hours (UTC); anything else is counted from the rows.
   */
  readonly stepMs: number;
  /** The most sums that are given; default all. */
  readonly limit?: number;
}

/** The sums of one bucket of time and one group; buckets without a request are left out. */
export interface UsageSum {
  /** When the bucket begins, unix milliseconds. */
  readonly atMs: number;
  /** A key id, slot, model or format; '' where it is none or `by` is null. */
  readonly group: string;
  readonly requests: number;
  readonly errors: number;
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Requests that had a first event, and the sum of the times to it. */
  readonly firstEvents: number;
  readonly firstEventMsSum: number;
  readonly durationMsSum: number;
}

/** One row a request, and sums by the hour. */
export interface Ledger {
  /** All or none of them; rows that are there already stay as they are and count once. */
  append(rows: readonly LedgerRow[]): Promise<void>;
  /** Throws a TypeError on a cursor that it did not give. `limit`: at most 1000. */
  requests(
    filter: LedgerFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<LedgerPage>;
  /** One row with its trace; its time is needed beside its id, for it is by time that rows are found. */
  get(row: Pick<LedgerRow, 'atMs' | 'id'>): Promise<LedgerRow | undefined>;
  /** In the order of time, then of group; for a stage, all requests that have settled are in it. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Deletes at most `limit` rows, and as many hours, that ended before the hour of `beforeMs`. Gives how many rows. */
  prune(beforeMs: number, limit: number): Promise<number>;
}
