import { quantile, median } from './statistics.js';
import { table } from './table.js';

/** CPU time of a build by that of the old one, each round a pair of its own. */
export interface Pair {
  readonly line: string;
  readonly rounds: number;
  readonly ratio: number;
  /** A quarter of the rounds lies below it, and a quarter above `upper`. */
  readonly lower: number;
  readonly upper: number;
  readonly least: number;
  readonly most: number;
  /** The median of the differences. */
  readonly moreMicros: number;
}

/** The pairs of all lines that are a build of the gateway; none where there is no old one. */
export function pairsOf(rounds: ReadonlyMap<string, readonly number[]>): readonly Pair[] {
  const old = rounds.get('old');
  if (!old) return [];
  return ['gateway', 'old again'].map((line) => pairOf(line, rounds.get(line) ?? [], old));
}

function pairOf(line: string, all: readonly number[], old: readonly number[]): Pair {
  const pairs = all.map((micros, round) => [micros, old[round] ?? NaN] as const);
  const ratios = pairs.map(([micros, others]) => micros / others);
  return {
    line,
    rounds: pairs.length,
    ratio: median(ratios),
    lower: quantile(ratios, 0.25),
    upper: quantile(ratios, 0.75),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    moreMicros: median(pairs.map(([micros, others]) => micros - others)),
  };
}

/** The pairs as a table, to stand below another one; nothing where there are none. */
export function pairTable(pairs: readonly Pair[]): string {
  if (pairs.length === 0) return '';
  const cells = pairs.map(({ line, rounds, ratio, lower, upper, least, most, moreMicros }) => [
    line,
    ratio.toFixed(3),
    `${lower.toFixed(3)} to ${upper.toFixed(3)}`,
    `${least.toFixed(3)} to ${most.toFixed(3)}`,
    moreMicros.toFixed(0),
    String(rounds),
  ]);
  return `\n\n${table(header, cells)}`;
}

const header = ['CPU of the old build', 'median', 'half of the rounds', 'least to most', 'µs more', 'rounds'];

export function cpuOf({ cpuMicros }: { readonly cpuMicros: number }): number {
  return cpuMicros;
}
