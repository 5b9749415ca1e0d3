import type { Cost, Costs } from '../measure/rounds.js';
import type { Goal } from '../workloads.js';
import { cpuOf } from './pair-table.js';
import { median, pairedRatio } from './statistics.js';
import { against, table } from './table.js';

/** The medians of a line, and how they stand to those that the goals name. */
export interface Row {
  readonly line: string;
  readonly rounds: number;
  readonly cpuMicros: number;
  readonly leastMicros: number;
  readonly mostMicros: number;
  readonly loadMicros: number;
  readonly requestsPerSecond: number;
  readonly firstByteMs: number;
  readonly rssMb: number;
  /** CPU time by that of other lines. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** One row a line, with its ratios to these others where they were measured. */
export function rowsOf(others: readonly string[], costs: Costs): readonly Row[] {
  const measured = others.filter((other) => costs.has(other));
  return [...costs].map(([line, all]) => {
    const cpuMicros = all.map(cpuOf);
    const ratios = measured.map((other) => {
      return [other, pairedRatio(cpuMicros, (costs.get(other) ?? []).map(cpuOf))] as const;
    });
    return {
      line,
      rounds: all.length,
      cpuMicros: median(cpuMicros),
      leastMicros: Math.min(...cpuMicros),
      mostMicros: Math.max(...cpuMicros),
      loadMicros: middle(all, 'loadMicros'),
      requestsPerSecond: middle(all, 'requestsPerSecond'),
      firstByteMs: middle(all, 'firstByteMs'),
      rssMb: middle(all, 'rssMb'),
      ratios: Object.fromEntries(ratios),
    };
  });
}

/** The rows as a table, with marks where the gateway has a goal. */
export function costTable(goals: readonly Goal[], rows: readonly Row[]): string {
  const others = [...new Set(rows.flatMap(({ ratios }) => Object.keys(ratios)))];
  const header = ['who', 'CPU µs a request', 'least', 'most', ...others.map((other) => `of ${other}`)];
  const cells = rows.map((row) => [
    row.line,
    row.cpuMicros.toFixed(0),
    row.leastMicros.toFixed(0),
    row.mostMicros.toFixed(0),
    ...others.map((other) => against(row.ratios[other] ?? NaN, goalOf(row.line, other, goals))),
    row.requestsPerSecond.toFixed(0),
    row.firstByteMs.toFixed(2),
    row.loadMicros.toFixed(0),
    row.rssMb.toFixed(0),
  ]);
  return table([...header, 'requests/s', 'first byte ms', 'load µs', 'RSS MB'], cells);
}

function goalOf(line: string, other: string, goals: readonly Goal[]): number | undefined {
  return line === 'gateway' ? goals.find(({ of }) => of === other)?.atMost : undefined;
}

function middle(all: readonly Cost[], field: Exclude<keyof Cost, 'threadMicros'>): number {
  return median(all.map((cost) => cost[field]));
}
