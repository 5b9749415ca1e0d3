import type { CacheCause, LedgerFilter, LedgerSums, LedgerTokens, UsageQuery } from '../../plugin/core.js';
import type { ErrorTexts } from './error-texts.js';

/** Cost of one request in nano-USD, integers. */
export interface LedgerCost {
  /** Cost of the tokens that the upstream billed. */
  readonly billed: number;
  /** Cost of the tokens that the caller was shown. */
  readonly shown: number;
}

/** Tokens that one stage added to a request, with their cost in nano-USD; absent: unknown. */
export interface LedgerAddition {
  readonly tokens: LedgerTokens;
  readonly cost?: number;
}

/** Cached tokens that a turn had to send again. */
export interface CacheLoss {
  readonly cause: CacheCause;
  /** Place of the change, such as `message 3` or the name of a stage; at most 100 characters. */
  readonly detail?: string;
  readonly lostTokens: number;
  /** Nano-USD; absent: unknown. */
  readonly lostCost?: number;
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
  /** Id of the key's team. */
  readonly team?: string;
  /** Pseudonym of the sticky key; absent without one. */
  readonly session?: string;
  readonly slot?: string;
  /** Model that answered, by catalog id; without an answer the one that was asked for. */
  readonly model?: string;
  /** Model that the caller asked for; absent: it is the same. */
  readonly askedModel?: string;
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
  /** Time from the first byte of the request to the first content of the answer, thinking included. */
  readonly firstTokenMs?: number;
  readonly durationMs: number;
  /** Time spent waiting for a place in a slot, all attempts together. */
  readonly queueMs?: number;
  /** Time from the first to the last event of the answer. */
  readonly outputMs?: number;
  /** Tokens as billed by the upstream. */
  readonly billed: LedgerTokens;
  /** Tokens as shown to the caller. */
  readonly shown: LedgerTokens;
  /** True where tokens are estimated: their upstream told none, or its answer was cut off. Absent: all were told. */
  readonly estimated?: boolean;
  /** Cost of these tokens; absent: unknown. */
  readonly cost?: LedgerCost;
  /** Tokens that stages added, by the stage's name; absent: none. */
  readonly additions?: Readonly<Record<string, LedgerAddition>>;
  /** Loss of cached tokens; absent: none is known. */
  readonly cache?: CacheLoss;
  /** Usage tags that stages have set; absent: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Trace of stages and upstream calls; left out in lists. */
  readonly trace?: LedgerTrace;
}

/** Key of a row: rows are found by time. */
export type LedgerRowKey = Pick<LedgerRow, 'atMs' | 'id'>;

/** Row on its way to the ledger, with its error texts; rows that are read are without them. */
export interface AppendedRow extends LedgerRow {
  readonly errorTexts?: ErrorTexts;
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

export interface LedgerPage {
  /** Newest first, without their traces. */
  readonly rows: readonly LedgerRow[];
  /** Cursor of the next page; absent if there is none. */
  readonly cursor?: string;
}

export const latencyMeasures = ['first_token', 'per_output_token', 'queue', 'total'] as const;

/**
 * Times that percentiles are kept of: to the first content, for each output token after the first, in the queue,
 * and of the whole request.
 */
export type LatencyMeasure = (typeof latencyMeasures)[number];

/** Percentiles in milliseconds, by nearest rank, interpolated within buckets. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Percentiles of one time bucket and one group; measures without a value are left out. */
export interface LatencySum {
  /** Start of the bucket, unix milliseconds. */
  readonly atMs: number;
  readonly group: string;
  readonly measures: Readonly<Partial<Record<LatencyMeasure, Percentiles>>>;
}

/** Ledger of requests: one row for each, and hourly sums. */
export interface Ledger extends LedgerSums {
  /**
   * Appends all rows or none; existing rows stay unchanged and count once. Throws a RefusedRowsError where the store takes
   * one of them in no case.
   */
  append(rows: readonly AppendedRow[]): Promise<void>;
  /** One page of rows; `limit`: max 1000. Throws a TypeError on a cursor that is not its own. */
  requests(
    filter: LedgerFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<LedgerPage>;
  /** One row with its trace. */
  get(row: LedgerRowKey): Promise<LedgerRow | undefined>;
  /** Rows of these that the ledger has, in any order, without their traces; `rows`: max 1000, each once. */
  find(rows: readonly LedgerRowKey[]): Promise<readonly LedgerRow[]>;
  /**
   * Percentiles, within 9.1 % of the exact ones, ordered as `usage`. Hourly counts have all requests, slots, models
   * and formats; keys and teams have some where `usage` counts rows, other groups none.
   */
  latency(query: UsageQuery): Promise<readonly LatencySum[]>;
  /**
   * Deletes at most `limit` rows, and as many hourly sums, from before the hour of `beforeMs`. Returns the
   * number of rows.
   */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** Error of rows of which the content of at least one is refused, whenever they are appended. */
export class RefusedRowsError extends Error {
  override readonly name = 'RefusedRowsError';
  /** Code of the database, or name of the error. */
  readonly reason: string;

  constructor(cause: unknown) {
    super('The store refuses the content of a ledger row.', { cause });
    const { code, name } = Object(cause) as { readonly code?: unknown; readonly name?: unknown }; // fields of any value
    this.reason = String(code ?? name);
  }
}
