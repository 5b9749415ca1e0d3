import {
  latencyMeasures,
  type LatencyMeasure,
  type LatencySum,
  type LedgerRow,
  type Percentiles,
} from '../contract.js';

/** Number of values of one measure in one bucket. */
export interface LatencyCount {
  readonly measure: LatencyMeasure;
  readonly bucket: number;
  count: number;
}

/** Counts by measure and bucket, by a number of both. */
export type LatencyCounts = Map<number, LatencyCount>;

/** Columns of a row with its times. */
export type TimedRow = Pick<
  LedgerRow,
  'attempts' | 'durationMs' | 'firstEventMs' | 'firstTokenMs' | 'outputMs' | 'queueMs'
> & { readonly billed: Pick<LedgerRow['billed'], 'output'> };

/** Adds the times of a row; with `by` -1, removes them. Requests without a model call have none. */
export function addLatency(counts: LatencyCounts, row: TimedRow, by: 1 | -1 = 1): void {
  if (row.firstTokenMs !== undefined) addTime(counts, 'first_token', row.firstTokenMs, by);
  const perToken = perOutputTokenMs(row, row.billed.output);
  if (perToken !== undefined) addTime(counts, 'per_output_token', perToken, by);
  if (row.queueMs !== undefined) addTime(counts, 'queue', row.queueMs, by);
  if (row.attempts > 0) addTime(counts, 'total', row.durationMs, by);
}

function addTime(counts: LatencyCounts, measure: LatencyMeasure, ms: number, by: 1 | -1): void {
  const bucket = bucketOf(ms);
  const known = counts.get(keyOf(measure, bucket));
  if (known) known.count += by;
  else addCount(counts, { measure, bucket, count: by });
}

/** Orders counts by their measure, then by their bucket: there are fewer buckets than this. */
function keyOf(measure: LatencyMeasure, bucket: number): number {
  return latencyMeasures.indexOf(measure) * 4096 + bucket;
}

/** Adds a copy of a count. */
export function addCount(counts: LatencyCounts, { measure, bucket, count }: LatencyCount): void {
  const key = keyOf(measure, bucket);
  const known = counts.get(key);
  if (known) known.count += count;
  else counts.set(key, { measure, bucket, count });
}

/** Buckets in a doubling of the time. */
const perDoubling = 4;

/** Bucket of all times below 0.05 ms, which count as 0. */
const lowest = Math.floor(perDoubling * Math.log2(0.05));

/** Bucket of a time: four in each doubling, the same ones for every measure. */
export function bucketOf(ms: number): number {
  return ms < 0.05 ? lowest : Math.floor(perDoubling * Math.log2(ms));
}

/**
 * Time at a place within a bucket, on the scale of its logarithm. `share`: from 0, its beginning, to 1, its end; the middle
 * is its geometric mean.
 */
export function timeOf(bucket: number, share = 0.5): number {
  return bucket <= lowest ? 0 : 2 ** ((bucket + share) / perDoubling);
}

/** Largest relative error of a percentile: the width of a bucket. */
export const maxLatencyError = 2 ** (1 / perDoubling) - 1;

/** Counts by time and group, as the input of percentiles. */
export class LatencyGroups {
  readonly #groups = new Map<string, CountedGroup>();

  of(atMs: number, group: string): LatencyCounts {
    const key = `${atMs} ${group}`;
    const known = this.#groups.get(key);
    if (known) return known.counts;
    const counts: LatencyCounts = new Map();
    this.#groups.set(key, { atMs, group, counts });
    return counts;
  }

  /** Ordered by time, then by group. */
  sums(): readonly LatencySum[] {
    return [...this.#groups.values()]
      .map(({ atMs, group, counts }) => ({ atMs, group, measures: measuresOf(counts) }))
      .filter(({ measures }) => Object.keys(measures).length > 0)
      .toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
  }
}

interface CountedGroup {
  readonly atMs: number;
  readonly group: string;
  readonly counts: LatencyCounts;
}

function measuresOf(counts: LatencyCounts): LatencySum['measures'] {
  const all = [...counts.values()].filter(({ count }) => count > 0);
  const found = latencyMeasures.map(
    (measure) => [measure, all.filter((count) => count.measure === measure)] as const,
  );
  return Object.fromEntries(
    found.filter(([, own]) => own.length > 0).map(([measure, own]) => [measure, percentilesOf(own)]),
  );
}

/** Percentiles by nearest rank; the times of one bucket are taken to be spread over it evenly. */
function percentilesOf(counts: readonly LatencyCount[]): Percentiles {
  const ordered = counts.toSorted((a, b) => a.bucket - b.bucket);
  const total = ordered.reduce((sum, { count }) => sum + count, 0);
  const at = (share: number): number => {
    let rank = Math.ceil(share * total);
    for (const { bucket, count } of ordered) {
      if (rank <= count) return timeOf(bucket, (rank - 0.5) / count);
      rank -= count;
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Times of an answer in milliseconds, as the ledger has them. */
interface AnswerTimes {
  readonly firstEventMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly outputMs?: number | undefined;
}

/**
 * Time for each output token after the first one, in milliseconds; undefined for an answer that is not complete
 * or has fewer than two.
 */
export function perOutputTokenMs(
  { firstEventMs, firstTokenMs, outputMs }: AnswerTimes,
  outputTokens: number,
): number | undefined {
  if (firstEventMs === undefined || firstTokenMs === undefined || outputMs === undefined) return undefined;
  if (outputTokens < 2) return undefined;
  return Math.max(0, firstEventMs + outputMs - firstTokenMs) / (outputTokens - 1);
}
