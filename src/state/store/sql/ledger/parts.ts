import { setImmediate as breath } from 'node:timers/promises';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { UsageQuery } from '../../../../plugin/core.js';
import { allOf, type Condition, type IndexedCondition } from './conditions.js';
import type { LedgerSearch } from './ledger-search.js';
import type { Tables } from '../tables/tables.js';

export type Dialect = 'sqlite' | 'postgres';

/** Rows or sums of the ledger that are read part by part. */
export interface PartSource {
  /** Table and condition that parts are counted by. */
  readonly counted: { readonly table: RawBuilder<unknown>; readonly where: Condition };
  /** Tables and conditions of the part that `within` restricts by its times. */
  readonly from: (within: Condition) => RawBuilder<unknown>;
}

/** Rows of a table in which the condition has an index. */
export function plainSource(table: RawBuilder<unknown>, where: Condition): PartSource {
  return { counted: { table, where }, from: (within) => sql`${table} where ${where} and ${within}` };
}

interface Joined {
  /** Tables that each row is joined with. */
  readonly more?: RawBuilder<unknown>;
  readonly where?: readonly Condition[];
}

/**
 * Rows that a search finds; a part is as many rows as are examined, so none takes long if few are found. SQLite keeps
 * no statistics and gets the indexes to use: a row is read once all of them have it.
 */
export function searchedSource(
  { first = sql<boolean>`true`, others, indexed }: LedgerSearch,
  dialect: Dialect,
  { more = sql``, where = [] }: Joined = {},
): PartSource {
  const counted = { table: sql.table('ledger'), where: first };
  const rest = [...others, ...where];
  if (dialect === 'postgres' || others.length === 0)
    return { counted, from: (within) => sql`ledger ${more} where ${allOf([first, within, ...rest])}` };
  return {
    counted,
    from: (within) => sql`
      (select at as place_at, id as place_id from ledger where ${allOf([first, within, ...indexed.map(isIn)])}) as place
      cross join ledger ${more}
      where ledger.at = place_at and ledger.id = place_id and ${allOf(rest)}
    `,
  };
}

/** Condition that an index has the place of a row. */
function isIn({ where, index }: IndexedCondition): Condition {
  return sql<boolean>`exists (
    select 1 from ledger as same indexed by ${sql.ref(index)}
    where ${where} and same.at = ledger.at and same.id = ledger.id
  )`;
}

/** Span of time that is read at once. */
export interface Part {
  /** Start of the first bucket of all. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Start of its only bucket, if it has no other. */
  readonly bucketMs: number | undefined;
}

/** Span of time with its buckets; `startMs`: the first time that is read, if it is not `fromMs`. */
type Span = Pick<UsageQuery, 'fromMs' | 'toMs' | 'stepMs'> & { readonly startMs?: number };

/** Parts of a span, of about `partSize` rows each. */
export async function* partsOf(
  db: Kysely<Tables>,
  source: PartSource,
  span: Span,
  partSize: number,
): AsyncGenerator<Part> {
  for (let startMs = span.startMs ?? span.fromMs; startMs < span.toMs;) {
    const part = partOf(span, startMs, await endOfPart(db, source, { ...span, startMs, partSize }));
    yield part;
    startMs = part.endMs;
    if (startMs < span.toMs) await breath();
  }
}

interface Rest {
  readonly startMs: number;
  readonly toMs: number;
  readonly partSize: number;
}

/** Time of the first row beyond the limit; at least one millisecond after the start. */
async function endOfPart(
  db: Kysely<Tables>,
  { counted: { table, where } }: PartSource,
  { startMs, toMs, partSize }: Rest,
): Promise<number> {
  const { rows } = await sql<{ readonly at: number }>`
    select at from ${table} where ${where} and ${timesWithin(startMs, toMs)}
    order by at limit 1 offset ${sql.lit(partSize)}
  `.execute(db);
  return Math.max(startMs + 1, rows[0]?.at ?? toMs);
}

/** Part that ends with its bucket if that is near: rows of one bucket need no sorting. */
function partOf({ fromMs, stepMs }: Span, startMs: number, countedMs: number): Part {
  const bucketMs = startMs - ((startMs - fromMs) % stepMs);
  const nextMs = bucketMs + stepMs;
  const endMs = countedMs <= nextMs + stepMs ? Math.min(countedMs, nextMs) : countedMs;
  return { fromMs, stepMs, startMs, endMs, bucketMs: endMs <= nextMs ? bucketMs : undefined };
}

/** Condition of the times of a part. */
export function inPart({ startMs, endMs }: Part): Condition {
  return timesWithin(startMs, endMs);
}

function timesWithin(startMs: number, endMs: number): Condition {
  return sql<boolean>`at >= ${startMs} and at < ${endMs}`;
}

/** Place of a sum, as far as the columns of `placeColumns` determine it. */
export interface PlaceRecord {
  readonly start?: number;
  readonly grouped?: string;
}

/** Columns that distinguish the sums of a part: their bucket and their group, if there is more than one. */
export function placeColumns(
  { fromMs, stepMs, bucketMs }: Part,
  group: RawBuilder<string> | null,
): readonly RawBuilder<unknown>[] {
  // Literals: SQLite takes a bound number for a real one, whose division does not truncate.
  const [from, step] = [sql.lit(fromMs), sql.lit(stepMs)];
  return [
    ...(bucketMs === undefined ? [sql`${from} + ((at - ${from}) / ${step}) * ${step} as start`] : []),
    ...(group ? [sql`${group} as grouped`] : []),
  ];
}

/** Start of a bucket and name of a group. */
export function placeOf({ start, grouped }: PlaceRecord, part: Part): readonly [atMs: number, group: string] {
  return [start ?? part.bucketMs ?? part.startMs, grouped ?? ''];
}

/** `group by` of the first columns of a statement; without columns all rows are one group. */
export function groupedBy(columns: number): RawBuilder<unknown> {
  if (columns === 0) return sql``;
  return sql`group by ${sql.join(Array.from({ length: columns }, (_, at) => sql.lit(at + 1)))}`;
}
