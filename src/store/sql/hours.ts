import type { LedgerRow, UsageSum } from '../../plugin/internal.js';
import { hourOf, addSums, sumOf, type ColumnGroup } from '../../ledger/usage.js';
import { PreparedInsert } from './insert-rows.js';
import { writeTokens } from './ledger-record.js';
import { groupKinds, sumColumns, type SumKind } from './tables.js';
import { sql } from './kysely.js';

/** The sum of one hour and one group. */
export interface GroupSum {
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
  const hours = new Map<number, Hour>();
  for (const row of rows) {
    const atMs = hourOf(row.atMs);
    const hour = hours.get(atMs) ?? emptyHour();
    hours.set(atMs, hour);
    addRow(hour, row);
  }
  const sums = [...hours].flatMap(([atMs, hour]) => sumsIn(atMs, hour));
  return sums.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** By what they are called. */
type Hour = Readonly<Record<ColumnGroup, Map<string, UsageSum>>> & {
  /** By kind; empty where no row has a tag. */
  readonly tags: Map<SumKind, Map<string, UsageSum>>;
};

function emptyHour(): Hour {
  return { key: new Map(), slot: new Map(), model: new Map(), format: new Map(), tags: new Map() };
}

function addRow(hour: Hour, row: LedgerRow): void {
  const sum = sumOf(row);
  add(hour.key, row.keyId ?? '', sum);
  add(hour.slot, row.slot ?? '', sum);
  add(hour.model, row.model ?? '', sum);
  add(hour.format, row.format, sum);
  if (row.tags) addTags(hour.tags, row.tags, sum);
}

function addTags(kinds: Hour['tags'], tags: NonNullable<LedgerRow['tags']>, sum: UsageSum): void {
  for (const [tag, value] of Object.entries(tags)) {
    add(namesOf(kinds, 'tag'), tag, sum);
    add(namesOf(kinds, `tag:${tag}`), value, sum);
  }
}

function namesOf(kinds: Hour['tags'], kind: SumKind): Map<string, UsageSum> {
  const names = kinds.get(kind) ?? new Map<string, UsageSum>();
  kinds.set(kind, names);
  return names;
}

function add(sums: Map<string, UsageSum>, name: string, sum: UsageSum): void {
  const known = sums.get(name);
  sums.set(name, known ? addSums(known, sum) : sum);
}

function sumsIn(atMs: number, hour: Hour): readonly GroupSum[] {
  const ofKind = (kind: SumKind, names: ReadonlyMap<string, UsageSum>) =>
    Array.from(names, ([name, sum]) => ({ kind, atMs, name, sum }));
  const columns = groupKinds.flatMap(([kind]) => ofKind(kind, hour[kind]));
  if (hour.tags.size === 0) return columns;
  return [...columns, ...[...hour.tags].flatMap(([kind, names]) => ofKind(kind, names))];
}

function placeOf({ kind, atMs, name }: GroupSum): string {
  return `${kind} ${atMs} ${name}`;
}
