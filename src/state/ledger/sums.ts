import { totalTokens } from '../../plugin/index.js';
import type { LedgerTokens, UsageSum } from '../../plugin/core.js';
import type { LedgerRow } from './columns.js';
import { tokenColumns, tokenReader, writeTokens, type TokenSide } from './row/composed-fields.js';
import type { LedgerAddition } from './row/row-values.js';

/** SQL of a column of the rows that are summed. */
type ColumnSql = (column: string) => string;

/** A figure of a sum: its columns, a row's contribution, and the addition of two. */
interface Sum<Value> {
  readonly columns: readonly string[];
  of(this: void, row: LedgerRow): Value;
  /** Same of each column, in SQL. */
  sql(this: void, of: ColumnSql): readonly string[];
  add(this: void, first: Value, second: Value, times: 1 | -1): Value;
  write(this: void, value: Value, values: unknown[]): void;
  read(this: void, stored: Readonly<Record<string, number>>): Value;
}

/** Figures of an hour and a group, each once. Migrations make the columns, by hand. */
const sums = {
  requests: figure(
    'requests',
    () => 1,
    () => '1',
  ),
  errors: figure(
    'errors',
    ({ failed }) => Number(failed),
    (of) => of('failed'),
  ),
  billed: tokenSum('billed', ''),
  shown: tokenSum('shown', 'shown_'),
  firstEvents: figure(
    'first_events',
    ({ firstEventMs }) => (firstEventMs === undefined ? 0 : 1),
    (of) => `case when ${of('first_event_ms')} is null then 0 else 1 end`,
  ),
  firstEventMsSum: figure(
    'first_event_ms_sum',
    ({ firstEventMs }) => firstEventMs ?? 0,
    (of) => orZero(of('first_event_ms')),
  ),
  durationMsSum: figure(
    'duration_ms_sum',
    ({ durationMs }) => durationMs,
    (of) => of('duration_ms'),
  ),
  billedCost: figure(
    'billed_cost',
    ({ cost }) => cost?.billed ?? 0,
    (of) => orZero(of('billed_cost')),
  ),
  shownCost: figure(
    'shown_cost',
    ({ cost }) => cost?.shown ?? 0,
    (of) => orZero(of('shown_cost')),
  ),
  unpriced: figure(
    'unpriced',
    ({ cost, billed }) => Number(!cost && totalTokens(billed) > 0),
    (of) => {
      const all = tokenColumns('').map(of).join(' + ');
      return `case when ${of('billed_cost')} is null and ${all} > 0 then 1 else 0 end`;
    },
  ),
  cacheLostTokens: figure(
    'cache_lost_tokens',
    ({ cache }) => cache?.lostTokens ?? 0,
    (of) => orZero(of('cache_lost_tokens')),
  ),
  cacheLostCost: figure(
    'cache_lost_cost',
    ({ cache }) => cache?.lostCost ?? 0,
    (of) => orZero(of('cache_lost_cost')),
  ),
} satisfies { readonly [Name in SumName]: Sum<UsageSum[Name]> };

type SumName = Exclude<keyof UsageSum, 'atMs' | 'group'>;

type SumColumn = (typeof sums)[SumName]['columns'][number];

/** Record of a sum in a database. */
export type SumRecord = { readonly [Column in SumColumn]: number };

type Figure = Sum<unknown> & { readonly name: SumName };

const figures = Object.entries(sums).map(([name, sum]) => ({ name, ...sum })) as readonly Figure[]; // as the table has them

/** Columns in the order of `writeSum` and `sumSql`. */
export const sumColumns: readonly string[] = figures.flatMap(({ columns }) => columns);

/** SQL of the contribution of a row to each of `sumColumns`; `of`: SQL in place of a column of the row. */
export function sumSql(of: ColumnSql = (column) => column): readonly string[] {
  return figures.flatMap(({ sql }) => sql(of));
}

/** A row as a sum of one. */
export function sumOf(row: LedgerRow, atMs = row.atMs): UsageSum {
  return sumFrom(atMs, '', ({ of }) => of(row));
}

/** Addition of a stage to a row, as a sum of one. */
export function additionSum(row: LedgerRow, { tokens, cost }: LedgerAddition, atMs?: number): UsageSum {
  const { cost: _, cache: __, ...rest } = row;
  const added = { ...rest, billed: tokens, shown: noTokens };
  return sumOf(cost === undefined ? added : { ...added, cost: { billed: cost, shown: 0 } }, atMs);
}

const noTokens: LedgerTokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };

/**
 * Same in SQL: columns of the row in whose place others are summed; `at` gives a place in the result of
 * `additionsJson`.
 */
export function additionSql(at: (place: number) => string): ReadonlyMap<string, string> {
  const billed = tokenColumns('');
  return new Map([
    ...billed.map((column, place) => [column, at(place)] as const),
    ...tokenColumns('shown_').map((column) => [column, '0'] as const),
    ['billed_cost', at(billed.length)],
    ['shown_cost', '0'],
    ['cache_lost_tokens', '0'],
    ['cache_lost_cost', '0'],
  ]);
}

/** The sum of two of one bucket and group; with `times` -1, their difference. */
export function addSums(first: UsageSum, second: UsageSum, times: 1 | -1 = 1): UsageSum {
  return sumFrom(first.atMs, first.group, ({ name, add }) => add(first[name], second[name], times));
}

/** Adds a sum's values for `sumColumns`, in their order. */
export function writeSum(sum: UsageSum, values: unknown[]): void {
  for (const { name, write } of figures) write(sum[name], values);
}

export function readSum(stored: SumRecord, atMs: number, group: string): UsageSum {
  return sumFrom(atMs, group, ({ read }) => read(stored));
}

function sumFrom(atMs: number, group: string, valueOf: (figure: Figure) => unknown): UsageSum {
  const sum: Record<string, unknown> = { atMs, group };
  for (const figure of figures) sum[figure.name] = valueOf(figure);
  return sum as unknown as UsageSum; // each figure has the type of its name
}

function figure<Column extends string>(
  column: Column,
  of: (row: LedgerRow) => number,
  sql: (of: ColumnSql) => string,
) {
  return {
    columns: [column] as const,
    of,
    sql: (inRow: ColumnSql) => [sql(inRow)],
    add: (first: number, second: number, times: 1 | -1) => first + times * second,
    write: (value: number, values: unknown[]) => void values.push(value),
    read: (stored: Readonly<Record<Column, number>>) => stored[column],
  };
}

/** Field of the billed or the shown tokens. */
function tokenSum<Side extends TokenSide>(name: 'billed' | 'shown', side: Side) {
  const columns = tokenColumns(side);
  return {
    columns,
    of: (row: LedgerRow) => row[name],
    sql: (of: ColumnSql) => columns.map(of),
    add: addTokens,
    write: writeTokens,
    read: tokenReader(side),
  };
}

function addTokens(first: LedgerTokens, second: LedgerTokens, times: 1 | -1): LedgerTokens {
  return {
    input: first.input + times * second.input,
    cacheRead: first.cacheRead + times * second.cacheRead,
    cacheWrite5m: first.cacheWrite5m + times * second.cacheWrite5m,
    cacheWrite1h: first.cacheWrite1h + times * second.cacheWrite1h,
    output: first.output + times * second.output,
  };
}

function orZero(sql: string): string {
  return `coalesce(${sql}, 0)`;
}
