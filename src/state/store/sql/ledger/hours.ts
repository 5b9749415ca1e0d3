import type { LedgerRow } from '../../../ledger/contract.js';
import type { UsageSum } from '../../../../plugin/core.js';
import {
  addToCombination,
  combinationKey,
  combinationOf,
  type Combination,
} from '../../../ledger/combination.js';
import { askedModelOf, rowGroups } from '../../../ledger/groups.js';
import { addSums, sumColumns, writeSum } from '../../../ledger/sums.js';
import { hourOf } from '../../../ledger/usage-query.js';
import { PreparedInsert } from './insert-rows.js';
import type { SumKind } from '../tables/tables.js';
import { sql } from 'kysely';

/** The sum of one hour and one group. */
interface GroupSum {
  readonly kind: SumKind;
  /** Start of the hour. */
  readonly atMs: number;
  readonly name: string;
  readonly sum: UsageSum;
}

/** Adds sums to existing ones. */
export function sumInsert(): PreparedInsert<GroupSum> {
  const added = sumColumns.map((column) => {
    const [known, more] = [`ledger_sums.${column}`, `excluded.${column}`];
    return sql`${sql.ref(column)} = ${sql.ref(known)} + ${sql.ref(more)}`;
  });
  return new PreparedInsert({
    table: 'ledger_sums',
    columns: ['kind', 'at', 'name', ...sumColumns],
    tail: sql`on conflict (kind, at, name) do update set ${sql.join(added)}`,
    write({ kind, atMs, name, sum }, values) {
      values.push(kind, atMs, name);
      writeSum(sum, values);
    },
  });
}

/**
 * Increments of the hourly sums, one for each group a row belongs to. All instances use the same order:
 * locking the same hours in different orders would deadlock.
 */
export function sumsOf(combinations: Iterable<Combination>): readonly GroupSum[] {
  const sums = new Map<string, GroupSum>();
  for (const combination of combinations) {
    const { atMs } = combination;
    for (const [kind, name, sum] of groupSums(combination)) {
      const place = `${kind} ${atMs} ${name}`;
      const known = sums.get(place);
      sums.set(place, { kind, atMs, name, sum: known ? addSums(known.sum, sum) : sum });
    }
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/**
 * Groups of a combination: one of each column (unless it is the rest) and of the requested model, one of a cause, one for each stage, and two
 * for each tag.
 */
function groupSums({ row, sum, stages }: Combination): (readonly [SumKind, string, UsageSum])[] {
  const { cache, tags } = row;
  const groups: (readonly [SumKind, string, UsageSum])[] = [['asked_model', askedModelOf(row), sum]];
  for (const { group, rest, of } of rowGroups) {
    const name = of(row);
    if (name !== rest) groups.push([group, name, sum]);
  }
  if (cache) groups.push(['cause', cache.cause, sum]);
  for (const [stage, added] of stages) groups.push(['stage', stage, added]);
  for (const [tag, value] of Object.entries(tags ?? {}))
    groups.push(['tag', tag, sum], [`tag:${tag}`, value, sum]);
  return groups;
}

/** Rare ones among many rows, so that most rows are added once and not to each of their groups. */
export function combinationsOf(rows: readonly LedgerRow[]): readonly Combination[] {
  const combinations = new Map<string, Combination>();
  for (const row of rows) {
    const key = combinationKey(row);
    const known = combinations.get(key);
    if (known) addToCombination(known, row);
    else combinations.set(key, combinationOf(row, hourOf(row.atMs)));
  }
  return [...combinations.values()];
}
