import type { LedgerRow } from './contract.js';
import type { UsageSum } from '../../plugin/core.js';
import { addLatency, type LatencyCounts } from './latency/latency.js';
import { rowGroups } from './groups.js';
import { additionSum, addSums, sumOf } from './sums.js';
import { hourOf } from './usage-query.js';

/** Sums of the rows of one time that belong to the same groups. */
export interface Combination {
  readonly atMs: number;
  /** One of the rows. */
  readonly row: LedgerRow;
  sum: UsageSum;
  /** Additions of stages to the rows, by the stage's name. */
  readonly stages: Map<string, UsageSum>;
  /** Times of the rows. */
  readonly latency: LatencyCounts;
}

/** Text that rows share if they are of the same hour and groups. */
export function combinationKey(row: LedgerRow): string {
  const { atMs, askedModel, cache, tags } = row;
  const groups = [hourOf(atMs), ...rowGroups.map(({ of }) => of(row)), askedModel, cache?.cause];
  return JSON.stringify(tags ? [...groups, tags] : groups);
}

/** Combination of one row. */
export function combinationOf(row: LedgerRow, atMs: number): Combination {
  const combination = { atMs, row, sum: sumOf(row, atMs), stages: new Map(), latency: new Map() };
  addStages(combination, row);
  addLatency(combination.latency, row);
  return combination;
}

/** Adds one more row with the same key. */
export function addToCombination(combination: Combination, row: LedgerRow): void {
  combination.sum = addSums(combination.sum, sumOf(row));
  addStages(combination, row);
  addLatency(combination.latency, row);
}

function addStages({ atMs, stages }: Combination, row: LedgerRow): void {
  if (!row.additions) return;
  for (const [stage, addition] of Object.entries(row.additions)) {
    const known = stages.get(stage);
    const sum = additionSum(row, addition, atMs);
    stages.set(stage, known ? addSums(known, sum) : sum);
  }
}
