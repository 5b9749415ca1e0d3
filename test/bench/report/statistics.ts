import type { Spread } from '../load/job.js';

/** The middle of the values in order; of an even number the upper one. NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the others lies. NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
}

/** The median of the rounds' own ratios: the two of a round have had the same machine. */
export function pairedRatio(all: readonly number[], others: readonly number[]): number {
  return median(all.map((value, round) => value / (others[round] ?? NaN)));
}

export function spreadOf(values: readonly number[]): Spread {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: quantile(values, 1) };
}

/** The slope of the line through points, by least squares: y a unit of x. NaN of fewer than two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const rise = sum(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  return rise / sum(points.map(([x]) => (x - meanX) ** 2));
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
