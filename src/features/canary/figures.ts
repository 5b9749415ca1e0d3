import type { Json } from '../../plugin/index.js';
import type { FailedSessions } from './evidence.js';
import type { CanarySide } from './side.js';

/** Result of one request of a canary. */
export interface CanaryResult {
  readonly hasFailed: boolean;
  readonly firstTokenMs: number | undefined;
  /** Tokens that the stages have added to the request. */
  readonly addedTokens: number;
}

/** Counts of one variant. */
export interface SideFigures {
  readonly requests: number;
  readonly errors: number;
  /** Sessions with an error. */
  readonly failedSessions: number;
  readonly addedTokens: number;
  /** Requests by time to first token, in logarithmic buckets: index to count. */
  readonly firstTokens: Readonly<Record<string, number>>;
}

export type CanaryFigures = Readonly<Record<CanarySide, SideFigures>>;

const noFigures: SideFigures = { requests: 0, errors: 0, failedSessions: 0, addedTokens: 0, firstTokens: {} };

/** Counter of the requests of this instance. */
export class FigureCounter {
  #figures: CanaryFigures = { candidate: noFigures, control: noFigures };

  get figures(): CanaryFigures {
    return this.#figures;
  }

  add(side: CanarySide, { hasFailed, firstTokenMs, addedTokens }: CanaryResult): void {
    const firstTokens = firstTokenMs === undefined ? {} : { [bucketOf(firstTokenMs)]: 1 };
    this.#merge(side, { ...noFigures, requests: 1, errors: Number(hasFailed), addedTokens, firstTokens });
  }

  /** Counts a session that has failed for the first time. */
  addFailedSession(side: CanarySide): void {
    this.#merge(side, { ...noFigures, failedSessions: 1 });
  }

  #merge(side: CanarySide, more: SideFigures): void {
    this.#figures = { ...this.#figures, [side]: sumOf(this.#figures[side], more) };
  }
}

/** Sum of the figures of several instances. */
export function sumFigures(all: readonly CanaryFigures[]): CanaryFigures {
  return all.reduce(
    (sum, { candidate, control }) => ({
      candidate: sumOf(sum.candidate, candidate),
      control: sumOf(sum.control, control),
    }),
    { candidate: noFigures, control: noFigures },
  );
}

/** Figures for other instances. */
export function writeFigures(figures: CanaryFigures): Json {
  return figures as unknown as Json; // numbers in plain objects
}

/** Figures as another instance has published them. */
export function readFigures(value: Json): CanaryFigures {
  return value as unknown as CanaryFigures; // written by this version of the gateway
}

export function failedSessions({ candidate, control }: CanaryFigures): FailedSessions {
  return { candidate: candidate.failedSessions, control: control.failedSessions };
}

function sumOf(one: SideFigures, other: SideFigures): SideFigures {
  const firstTokens = { ...one.firstTokens };
  for (const [bucket, count] of Object.entries(other.firstTokens))
    firstTokens[bucket] = (firstTokens[bucket] ?? 0) + count;
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    failedSessions: one.failedSessions + other.failedSessions,
    addedTokens: one.addedTokens + other.addedTokens,
    firstTokens,
  };
}

/** Buckets by factor of two, so that a percentile is at most 9 % off. */
const bucketsPerDouble = 4;

function bucketOf(ms: number): number {
  return Math.min(maxBucket, Math.max(0, Math.round(Math.log2(Math.max(1, ms)) * bucketsPerDouble)));
}

/** Bucket of some 18 minutes and more. */
const maxBucket = 80;

/** Upper bound of the time to first token for a share of the requests, in milliseconds; null without any. */
export function firstTokenPercentile({ firstTokens }: SideFigures, share: number): number | null {
  const buckets = Object.entries(firstTokens).map(([bucket, count]) => [Number(bucket), count] as const);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const [bucket, count] of buckets.toSorted(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return Math.round(2 ** (bucket / bucketsPerDouble));
  }
  return null;
}
