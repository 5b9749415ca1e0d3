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
  /** Unique id of the request: appending a row again (a retry) does not count it twice. */
  readonly id: string;
  /** Arrival time, unix milliseconds. */
  readonly atMs: number;
  /** Request id as callers see it; not unique, since callers may send one twice. */
  readonly requestId: string;
  readonly keyId?: string;
  readonly slot?: string;
  /** Model name as sent by the caller. */
  readonly model?: string;
  readonly format: string;
  /** HTTP status; 499 if the caller disconnected before there was one. */
  readonly status: number;
  /** The error's code. */
  readonly code?: string;
  /** True if the caller got no complete answer, unless it disconnected itself. */
  readonly failed: boolean;
  readonly streamed: boolean;
  readonly attempts: number;
  /** Time from the first byte of the request to the first event of the answer. */
  readonly firstEventMs?: number;
  readonly durationMs: number;
  /** Tokens as billed by the upstream. */
  readonly billed: LedgerTokens;
  /** Tokens as shown to the caller. */
  readonly shown: LedgerTokens;
  /** Usage tags that stages have set; absent: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Trace of stages and upstream calls; left out in lists. */
  readonly trace?: LedgerTrace;
}

/** Trace of one request: its stages, and its upstream calls in order. */
export interface LedgerTrace {
  readonly stages: readonly { readonly stage: string; readonly ms: number; readonly skipped?: true }[];
  readonly calls: readonly {
    readonly slot: string;
    /** Model of a call that asked another one than the caller. */
    readonly model?: string;
    readonly ms: number;
    readonly code?: string;
  }[];
  /** Model that answered in place of the one asked for. */
  readonly answeredBy?: string;
}

/**
 * Filter of ledger rows: every given field must match. Times in unix milliseconds, `fromMs` included and
 * `toMs` not.
 */
export interface LedgerFilter {
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly keyId?: string;
  readonly slot?: string;
  readonly model?: string;
  readonly format?: string;
  readonly status?: number;
  readonly code?: string;
  readonly failed?: boolean;
  readonly requestId?: string;
}

export interface LedgerPage {
  /** Newest first, without their traces. */
  readonly rows: readonly LedgerRow[];
  /** Cursor of the next page; absent if there is none. */
  readonly cursor?: string;
}

export type UsageGroup = 'key' | 'slot' | 'model' | 'format' | 'tag';

export interface UsageQuery {
  /** Unix milliseconds, `fromMs` included and `toMs` not. */
  readonly fromMs: number;
  readonly toMs: number;
  /** `tag`: one group for each tag in use, without the requests that have none. */
  readonly by: UsageGroup | null;
  /** With `by: 'tag'`: one group for each value of this tag. */
  readonly tag?: string;
  /** Only requests with this key. */
  readonly keyId?: string;
  /**
   * Bucket length; the first bucket begins at `fromMs`. Whole hours are read from the hourly sums, with the
   * range widened to whole hours (UTC); other lengths are counted from the rows.
   */
  readonly stepMs: number;
  /** Max sums returned; default: all. */
  readonly limit?: number;
}

/** Sums of one time bucket and one group; buckets without requests are left out. */
export interface UsageSum {
  /** Start of the bucket, unix milliseconds. */
  readonly atMs: number;
  /** A key id, slot, model, format, tag or value of a tag; '' if there is none or `by` is null. */
  readonly group: string;
  readonly requests: number;
  readonly errors: number;
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Requests with a first event, and the sum of the times to it. */
  readonly firstEvents: number;
  readonly firstEventMsSum: number;
  readonly durationMsSum: number;
}

/** Ledger of requests: one row for each, and hourly sums. */
export interface Ledger {
  /** Appends all rows or none; existing rows stay unchanged and count once. */
  append(rows: readonly LedgerRow[]): Promise<void>;
  /** One page of rows; `limit`: max 1000. Throws a TypeError on a cursor that is not its own. */
  requests(
    filter: LedgerFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<LedgerPage>;
  /** One row with its trace. Needs `atMs` beside the id, because rows are found by time. */
  get(row: Pick<LedgerRow, 'atMs' | 'id'>): Promise<LedgerRow | undefined>;
  /** Sums ordered by time, then by group. For a stage, all settled requests are included. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /**
   * Deletes at most `limit` rows, and as many hourly sums, from before the hour of `beforeMs`. Returns the
   * number of rows.
   */
  prune(beforeMs: number, limit: number): Promise<number>;
}
