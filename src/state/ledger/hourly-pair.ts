import type { LedgerFilter, UsageGroup, UsageQuery } from '../../plugin/core.js';
import { groupColumnOf, groupOfField, restOf, type ColumnGroup } from './groups.js';
import { conditionsOf } from './usage-query.js';

/** Group of a pair; those of `failed` are the answered requests and the failed ones. */
type PairGroup = ColumnGroup | 'failed';

/** Column of a group of a pair, in the rows. */
export const pairColumnOf: Readonly<Record<PairGroup, string>> = { ...groupColumnOf, failed: 'failed' };

/** Two groups that the requests of an hour are summed by together. */
export type GroupPair = readonly [PairGroup, PairGroup];

/** Groups of pairs: a group with a rest is most often that alone, and its pairs would repeat the sums of the other. */
const groups = (Object.keys(pairColumnOf) as PairGroup[]) // the keys are groups
  .filter((group) => group === 'failed' || restOf(group) === undefined);

/** Each pair of groups, once. */
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
  const names = namesIn(conditionsOf(query));
  const asked = new Set<PairGroup | UsageGroup | undefined>([...names.keys(), ...(by === null ? [] : [by])]);
  if (asked.size === 1 && asked.has('failed')) asked.add('format'); // each request has one
  const pair = groupPairs.find((each) => asked.size === 2 && each.every((group) => asked.has(group)));
  if (!pair) return undefined;
  const [first, second] = pair;
  return {
    pair,
    names: [names.get(first), names.get(second)],
    by: by === first ? 0 : by === second ? 1 : null,
  };
}

/** Names that a filter asks for, by their group; undefined for conditions on something else. */
function namesIn({
  failed,
  ...others
}: LedgerFilter): ReadonlyMap<PairGroup | UsageGroup | undefined, string> {
  const names = new Map<PairGroup | UsageGroup | undefined, string>();
  for (const [field, value] of Object.entries(others))
    if (value !== undefined) names.set(groupOfField.get(field), String(value));
  if (failed !== undefined) names.set('failed', failed ? '1' : '0');
  return names;
}
