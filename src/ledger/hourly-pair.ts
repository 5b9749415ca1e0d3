import type { UsageGroup, UsageQuery } from '../plugin/internal.js';
import { conditionsOf, groupColumnOf, groupOfField, type ColumnGroup } from './usage.js';

/** Two groups that the requests of an hour are summed by together. */
export type GroupPair = readonly [ColumnGroup, ColumnGroup];

const groups = Object.keys(groupColumnOf) as readonly ColumnGroup[]; // the keys are groups

/** Each two groups, once. */
export const groupPairs: readonly GroupPair[] = groups.flatMap((first, at) =>
  groups.slice(at + 1).map((second): GroupPair => [first, second]),
);

/** Place of the answer to a query in the sums of a pair. */
export interface PairReading {
  readonly pair: GroupPair;
  /** Names that the groups of the pair must have. */
  readonly names: readonly [string | undefined, string | undefined];
  /** Member of the pair that the query groups by. */
  readonly by: 0 | 1 | null;
}

/** Pair whose sums answer a query; undefined: there is none. */
export function hourlyPair(query: UsageQuery): PairReading | undefined {
  const { by } = query;
  const names = new Map<UsageGroup | undefined, string>();
  for (const [field, value] of Object.entries(conditionsOf(query)))
    if (value !== undefined) names.set(groupOfField.get(field), String(value));
  const asked = new Set([...names.keys(), ...(by === null ? [] : [by])]);
  const pair = groupPairs.find((each) => asked.size === 2 && each.every((group) => asked.has(group)));
  if (!pair) return undefined;
  const [first, second] = pair;
  return {
    pair,
    names: [names.get(first), names.get(second)],
    by: by === first ? 0 : by === second ? 1 : null,
  };
}
