/** Tokens of one request, or of many. */
export interface LedgerTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
}

/** Cause of a turn that read less from the provider's cache than the turn before it wrote. */
export type CacheCause =
  | 'client_changed'
  | 'stage_changed'
  | 'slot_moved'
  | 'expired'
  | 'model_changed'
  | 'provider'
  | 'unknown';

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
  readonly session?: string;
  readonly team?: string;
  /** Name of the pipeline; `default` if none was chosen. */
  readonly pipeline?: string;
  /** Request that stages made the calls for: time and id of its row, `1767225600000.0197…`. */
  readonly parent?: string;
  /** Purpose of calls that stages made themselves. */
  readonly label?: string;
  /** Cause of lost cached tokens. */
  readonly cause?: CacheCause;
}

export type UsageGroup =
  | 'key'
  | 'team'
  | 'slot'
  | 'model'
  | 'asked_model'
  | 'format'
  | 'pipeline'
  | 'label'
  | 'tag'
  | 'stage'
  | 'cause';

export interface UsageQuery {
  /** Unix milliseconds, `fromMs` included and `toMs` not. */
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * `tag`, `stage` and `cause`: without the requests that have none. `stage`: the tokens and the cost are those
   * that the stage added.
   */
  readonly by: UsageGroup | null;
  /** With `by: 'tag'`: one group for each value of this tag. */
  readonly tag?: string;
  /** Only requests with this key. */
  readonly keyId?: string;
  /**
   * Only requests that match. Conditions and `by` together on one hourly group, or on two of the columns of groups and
   * `failed`, are answered by the hourly sums, except for a pipeline or label with another column; others are counted from the rows.
   */
  readonly where?: Omit<LedgerFilter, 'fromMs' | 'toMs'>;
  /**
   * Bucket length; the first bucket begins at `fromMs`. Whole hours are read from the hourly sums, with the
   * range widened to whole hours (UTC); other lengths are counted from the rows.
   */
  readonly stepMs: number;
  /** Max sums returned; default: all. */
  readonly limit?: number;
  /**
   * Instances that first write their waiting rows, as far as they answer; default: this one only. Rows that the store
   * does not take now are always in a single sum (`by: null`) of whole days of a key or a team; `waiting`: only those
   * rows, without asking the store.
   */
  readonly everywhere?: boolean | 'waiting';
}

/** Sums of one time bucket and one group; buckets without requests are left out. */
export interface UsageSum {
  /** Start of the bucket, unix milliseconds. */
  readonly atMs: number;
  /** A key id, team id, slot, model, asked model, format, pipeline, label, tag, value of a tag, stage or cause; '' if there is none or `by` is null. */
  readonly group: string;
  readonly requests: number;
  readonly errors: number;
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Requests with a first event, and the sum of the times to it. */
  readonly firstEvents: number;
  readonly firstEventMsSum: number;
  readonly durationMsSum: number;
  /** Nano-USD, of the requests whose cost is known. */
  readonly billedCost: number;
  readonly shownCost: number;
  /** Requests with billed tokens and an unknown cost. */
  readonly unpriced: number;
  /** Tokens that the cache lost, and their cost in nano-USD if it is known. */
  readonly cacheLostTokens: number;
  readonly cacheLostCost: number;
}

/** Sums of the requests in the ledger. */
export interface LedgerSums {
  /** Sums ordered by time, then by group. For a stage, all settled requests are included. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
}
