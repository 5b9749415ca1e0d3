import { quantile, median } from './statistics.js';
import { table } from './table.js';

/** A measure of a build by that of the old one, each round a pair of its own. */
export interface Pair {
  readonly line: string;
  readonly rounds: number;
  readonly ratio: number;
  /** A quarter of the rounds lies below it, and a quarter above `upper`. */
  readonly lower: number;
  readonly upper: number;
  readonly least: number;
  readonly most: number;
  /** The median of the differences, in the unit of the measure. */
  readonly more: number;
}

/** The pairs of all lines that are a build of the gateway; none where there is no old one. */
export function pairsOf(rounds: ReadonlyMap<string, readonly number[]>): readonly Pair[] {
  const old = rounds.get('old');
  if (!old) return [];
  return ['gateway', 'old again'].map((line) => pairOf(line, rounds.get(line) ?? [], old));
}

function pairOf(line: string, all: readonly number[], old: readonly number[]): Pair {
  const pairs = all.map((value, round) => [value, old[round] ?? NaN] as const);
  const ratios = pairs.map(([value, others]) => value / others);
  return {
    line,
    rounds: pairs.length,
    ratio: median(ratios),
    lower: quantile(ratios, 0.25),
    upper: quantile(ratios, 0.75),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    more: median(pairs.map(([value, others]) => value - others)),
  };
}

/** A measure of the builds, as the head of its table calls it, and its unit. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
}

export const cpuMeasure: Measure = { name: 'CPU', unit: 'µs' };

/** The pairs as a table, to stand below another one; nothing where there are none. */
export function pairTable(pairs: readonly Pair[], { name, unit }: Measure = cpuMeasure): string {
  if (pairs.length === 0) return '';
  const noise = noiseOf(pairs);
  const cells = pairs.map(({ line, rounds, ratio, lower, upper, least, most, more }) => [
    line,
    ratio.toFixed(3),
    line === 'gateway' ? claimOf(ratio, rounds, noise) : '',
    `${lower.toFixed(3)} to ${upper.toFixed(3)}`,
    `${least.toFixed(3)} to ${most.toFixed(3)}`,
    more.toFixed(0),
    String(rounds),
  ]);
  const header = [`${name} of the old build`, 'median', 'change', 'half of the rounds', 'least to most'];
  return `\n\n${table([...header, `${unit} more`, 'rounds'], cells)}`;
}

/** Difference from 1 that is not claimed: 5 %, or what the old build differs from itself, if that is more. */
function noiseOf(pairs: readonly Pair[]): number {
  const again = pairs.find(({ line }) => line === 'old again')?.ratio ?? 1;
  return Math.max(0.05, Math.abs(again - 1));
}

function claimOf(ratio: number, rounds: number, noise: number): string {
  if (rounds < minRounds) return 'too few rounds';
  if (Math.abs(ratio - 1) < noise) return 'within noise';
  return `${ratio < 1 ? '−' : '+'}${Math.abs((ratio - 1) * 100).toFixed(0)} %`;
}

/** Rounds whose median is worth a claim. */
const minRounds = 5;

export function cpuOf({ cpuMicros }: { readonly cpuMicros: number }): number {
  return cpuMicros;
}
