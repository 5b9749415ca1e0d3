import { hourMs } from '../../../kit/time/clock.js';

/** Used part of a window at a time. */
export interface UsePoint {
  readonly atMs: number;
  /** 0 to 100. */
  readonly percentUsed: number;
  /** Time of the reset as known then. */
  readonly resetsAtMs: number;
}

/**
 * Forecast of one usage window: `full`: nothing is left; `fills`: full before the reset at the usual pace; `holds`: not
 * full before it; `unknown`: too little data. Times are unix milliseconds, undefined if they are not before the reset.
 */
export interface Forecast {
  readonly verdict: 'full' | 'fills' | 'holds' | 'unknown';
  /** Time when it is full, at the median pace, and the band of the fastest and the slowest tenth. */
  readonly fullAtMs?: number;
  readonly earliestMs?: number;
  readonly latestMs?: number;
  /** Median pace; absent if it is not known. */
  readonly percentPerHour?: number;
  /** Expected use at the reset, at most 100. */
  readonly percentAtReset?: number;
}

/**
 * Forecast from the points since the last reset, in the order of time; the last one is now. Pace: Theil–Sen, the
 * median of the slopes between points that are at least a quarter of the time apart.
 */
export function forecast(points: readonly UsePoint[], lengthMs: number): Forecast {
  const now = points.at(-1);
  if (!now || now.resetsAtMs <= now.atMs) return unknown;
  if (now.percentUsed >= 100) return { verdict: 'full', fullAtMs: now.atMs, percentAtReset: 100 };
  const known = thinned(sinceReset(points, lengthMs));
  const spanMs = now.atMs - (known[0]?.atMs ?? now.atMs);
  if (known.length < minPoints || spanMs < lengthMs * minSpan) return unknown;
  const slopes = slopesOf(known, spanMs / 4);
  const [slow, median, fast] = [0.1, 0.5, 0.9].map((part) => Math.max(0, quantile(slopes, part)));
  const full = (slope: number | undefined) => fullAt(now, slope ?? 0);
  const fullAtMs = full(median);
  const [earliestMs, latestMs] = [full(fast), full(slow)];
  const left = (median ?? 0) * (now.resetsAtMs - now.atMs);
  return {
    verdict: fullAtMs === undefined ? 'holds' : 'fills',
    ...(fullAtMs !== undefined && { fullAtMs }),
    ...(earliestMs !== undefined && { earliestMs }),
    ...(latestMs !== undefined && { latestMs }),
    percentPerHour: (median ?? 0) * hourMs,
    percentAtReset: Math.min(100, now.percentUsed + left),
  };
}

const unknown: Forecast = { verdict: 'unknown' };
const minPoints = 5;
/** Part of the window's length that must be known. */
const minSpan = 1 / 30;

/** Points after the last reset: from there on the use never falls, and the time of the next reset stays. */
function sinceReset(points: readonly UsePoint[], lengthMs: number): readonly UsePoint[] {
  const now = points.at(-1);
  const start = points.findLastIndex((point, at) => {
    const next = points[at + 1];
    if (!now || !next) return false;
    const isOther = Math.abs(point.resetsAtMs - now.resetsAtMs) > lengthMs * resetTolerance;
    return isOther || next.percentUsed < point.percentUsed - fallTolerance;
  });
  return points.slice(start + 1);
}

/** Part of the length by which a reset may move; upstreams round it. */
const resetTolerance = 1 / 20;
/** Percent by which the use may fall without a reset: answers of parallel calls come in any order. */
const fallTolerance = 1;

/** At most `maxPoints` points, evenly chosen, the first and the last among them. */
function thinned(points: readonly UsePoint[]): readonly UsePoint[] {
  if (points.length <= maxPoints) return points;
  const step = (points.length - 1) / (maxPoints - 1);
  return Array.from({ length: maxPoints }, (_, at) => points[Math.round(at * step)]).filter(
    (point) => point !== undefined,
  );
}

const maxPoints = 60;

/** Slopes between all points at least `apartMs` apart, percent a millisecond, ascending. */
function slopesOf(points: readonly UsePoint[], apartMs: number): readonly number[] {
  const slopes: number[] = [];
  for (const [at, from] of points.entries())
    for (const to of points.slice(at + 1)) {
      const ms = to.atMs - from.atMs;
      if (ms > 0 && ms >= apartMs) slopes.push((to.percentUsed - from.percentUsed) / ms);
    }
  return slopes.toSorted((a, b) => a - b);
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.round(part * (sorted.length - 1))] ?? 0;
}

/** Time when a window is full at a pace; undefined: not before its reset. */
function fullAt(now: UsePoint, slope: number): number | undefined {
  const atMs = now.atMs + (100 - now.percentUsed) / slope;
  return atMs < now.resetsAtMs ? Math.round(atMs) : undefined;
}
