import type { LedgerRow, UsageSum } from '../../plugin/internal.js';
import { hourOf, addSums, sumOf } from '../../ledger/usage.js';
import { PreparedInsert } from './insert-rows.js';
import { writeTokens } from './ledger-record.js';
import { sumColumns, type SumKind } from './tables.js';
import { sql } from './kysely.js';

/** The sum of one hour and one group. */
interface GroupSum {
  readonly kind: SumKind;
  /** When the hour begins. */
  readonly atMs: number;
  readonly name: string;
  readonly sum: UsageSum;
}

/** Adds sums to those that are there. */
export function sumInsert(): PreparedInsert<GroupSum> {
  const added = sumColumns.map((column) => {
    const [known, more] = [`ledger_sums.${column}`, `excluded.${column}`];
    return sql`${sql.ref(column)} = ${sql.ref(known)} + ${sql.ref(more)}`;
  });
  return new PreparedInsert({
    table: 'ledger_sums',
    columns: ['kind', 'at', 'name', ...sumColumns],
    tail: sql`on conflict (kind, at, name) do update set ${sql.join(added)}`,
    write: writeSum,
  });
}

/** In the order of `sumColumns`. */
function writeSum({ kind, atMs, name, sum }: GroupSum, values: unknown[]): void {
  values.push(kind, atMs, name, sum.requests, sum.errors);
  values.push(sum.firstEvents, sum.firstEventMsSum, sum.durationMsSum);
  writeTokens(sum, values);
}

/**
 * Increments of the hourly sums, one for each group a row belongs to. All instances use the same order:
 * locking the same hours in different orders would deadlock.
 */
export function sumsOf(rows: readonly LedgerRow[]): readonly GroupSum[] {
  const sums = new Map<string, GroupSum>();
  for (const { atMs, row, sum } of combinationsOf(rows)) {
    for (const [kind, name] of groupsOf(row)) {
      const place = `${kind} ${atMs} ${name}`;
      const known = sums.get(place);
      sums.set(place, { kind, atMs, name, sum: known ? addSums(known.sum, sum) : sum });
    }
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** Groups of a row: one of each column, and two for each tag. */
function groupsOf({ keyId, slot, model, format, tags }: LedgerRow): (readonly [SumKind, string])[] {
  const groups: (readonly [SumKind, string])[] = [
    ['key', keyId ?? ''],
    ['slot', slot ?? ''],
    ['model', model ?? ''],
    ['format', format],
  ];
  for (const [tag, value] of Object.entries(tags ?? {})) groups.push(['tag', tag], [`tag:${tag}`, value]);
  return groups;
}

/** Sum of the rows of one hour that belong to the same groups as `row`, which is one of them. */
interface Combination {
  readonly atMs: number;
  readonly row: LedgerRow;
  sum: UsageSum;
}

/** Few among many rows, so that most rows are added once and not to each of their groups. */
function combinationsOf(rows: readonly LedgerRow[]): Iterable<Combination> {
  const combinations = new Map<string, Combination>();
  for (const row of rows) {
    const atMs = hourOf(row.atMs);
    const { keyId, slot, model, format, tags } = row;
    const place = [atMs, keyId, slot, model, format, tags && JSON.stringify(tags)].join('\0');
    const known = combinations.get(place);
    if (known) known.sum = addSums(known.sum, sumOf(row));
    else combinations.set(place, { atMs, row, sum: sumOf(row) });
  }
  return combinations.values();
}
