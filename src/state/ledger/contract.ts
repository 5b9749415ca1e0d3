import type { LedgerFilter, LedgerSums, UsageQuery } from '../../plugin/core.js';
import type { LedgerRow } from './columns.js';
import type { ErrorTexts } from './error-texts.js';
import { type StepResult } from '../step-result.js';

export type { LedgerRow } from './columns.js';
export type { CacheLoss, LedgerAddition, LedgerCost, LedgerTrace } from './row/row-values.js';

/** Key of a row: rows are found by time. */
export type LedgerRowKey = Pick<LedgerRow, 'atMs' | 'id'>;

/** Row on its way to the ledger, with its error texts, which read rows lack. */
export interface AppendedRow extends LedgerRow {
  readonly errorTexts?: ErrorTexts;
}

export interface LedgerPage {
  /** Newest first, without their traces. */
  readonly rows: readonly LedgerRow[];
  /** Cursor of the next page; absent if there is none. */
  readonly cursor?: string;
}

export const latencyMeasures = ['first_token', 'per_output_token', 'queue', 'total'] as const;

/**
 * Times with percentiles: to the first content, for each output token after the first, in the queue, and of the whole
 * request.
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
   * Appends all rows or none; existing rows stay unchanged and count once. Throws a RefusedRowsError if the store can
   * never accept one of them.
   */
  append(rows: readonly AppendedRow[]): Promise<void>;
  /** One page of rows; `limit`: max 1000. Throws a TypeError on a foreign cursor. */
  requests(
    filter: LedgerFilter,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<LedgerPage>;
  /** One row with its trace. */
  get(row: LedgerRowKey): Promise<LedgerRow | undefined>;
  /** Rows of these that the ledger has, in any order, without their traces; `rows`: max 1000, each once. */
  find(rows: readonly LedgerRowKey[]): Promise<readonly LedgerRow[]>;
  /**
   * Percentiles, within 9.1 % of the exact ones, ordered as `usage`. Hourly counts exist for all requests, slots,
   * models and formats; for keys and teams only if `usage` counts rows, for other groups never.
   */
  latency(query: UsageQuery): Promise<readonly LatencySum[]>;
  /**
   * Deletes at most `limit` rows, and as many hourly sums, from before the hour of `beforeMs`.
   */
  prune(beforeMs: number, limit: number): Promise<StepResult>;
}

/** Error of a batch with a row that the store refuses for its content at every attempt. */
export class RefusedRowsError extends Error {
  override readonly name = 'RefusedRowsError';
  /** Code of the database, or name of the error. */
  readonly reason: string;

  constructor(cause: unknown) {
    super('The store rejects the content of a ledger row.', { cause });
    const { code, name } = Object(cause) as { readonly code?: unknown; readonly name?: unknown }; // fields of any value
    this.reason = String(code ?? name);
  }
}
