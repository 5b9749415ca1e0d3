import type { Kysely, RawBuilder } from 'kysely';
import type { LedgerFilter } from '../../plugin/internal.js';
import { allOf, commonConditions, indexedConditions, type Condition } from './conditions.js';
import type { Tables } from './tables.js';
import { sql } from './kysely.js';

/** Rows of a filter: one condition is looked up in its index, the others filter the rows found. */
export interface LedgerSearch {
  readonly within: readonly Condition[];
  /** Condition that is looked up by index. */
  readonly first: Condition | undefined;
  /** Conditions that filter the rows found. */
  readonly others: readonly Condition[];
}

/** Search that looks up the rarest condition of a filter. */
export async function searchFor(db: Kysely<Tables>, filter: LedgerFilter): Promise<LedgerSearch> {
  const within = spanOf(filter);
  const indexed = indexedConditions(filter);
  const first = indexed.length > 1 ? await rarestOf(db, within, indexed) : indexed[0];
  const others = [...indexed.filter((condition) => condition !== first), ...commonConditions(filter)];
  return { within, first, others };
}

function spanOf({ fromMs, toMs }: LedgerFilter): readonly Condition[] {
  return [
    ...(fromMs === undefined ? [] : [sql<boolean>`at >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql<boolean>`at < ${toMs}`]),
  ];
}

/**
 * Condition with the fewest rows, counted up to `maxCounted`; among those with more, the one whose latest rows reach
 * back the furthest.
 */
async function rarestOf(
  db: Kysely<Tables>,
  within: readonly Condition[],
  conditions: readonly Condition[],
): Promise<Condition | undefined> {
  const all: { readonly condition: Condition; readonly count: number; readonly oldestMs: number }[] = [];
  for (const condition of conditions)
    all.push({ condition, ...(await latestOf(db, [...within, condition])) });
  return all.toSorted((a, b) => a.count - b.count || a.oldestMs - b.oldestMs)[0]?.condition;
}

/** Ordered, so that the index itself is read. */
async function latestOf(
  db: Kysely<Tables>,
  conditions: readonly Condition[],
): Promise<{ readonly count: number; readonly oldestMs: number }> {
  const { rows } = await sql<{ readonly count: number; readonly oldest: number | null }>`
    select count(*) as count, min(at) as oldest from
      (select at from ledger where ${allOf(conditions)}
       order by at desc, id desc limit ${sql.lit(maxCounted)}) as counted
  `.execute(db);
  return { count: rows[0]?.count ?? 0, oldestMs: rows[0]?.oldest ?? 0 };
}

const maxCounted = 2000;

/** Source of one part after the other of some rows or sums. */
export interface PartSource {
  /** Table and condition that parts are counted by. */
  readonly counted: { readonly table: RawBuilder<unknown>; readonly where: RawBuilder<unknown> };
  /** Tables and conditions of the part that `within` restricts by its times. */
  readonly from: (within: Condition) => RawBuilder<unknown>;
}

/** Rows of a table in which the condition has an index. */
export function plainSource(table: RawBuilder<unknown>, where: RawBuilder<unknown>): PartSource {
  return { counted: { table, where }, from: (within) => sql`${table} where ${where} and ${within}` };
}

/**
 * Rows that a search finds, joined with `more`. A part is as many rows as are looked at, and not as are found, so
 * that none takes long where few are.
 */
export function searchedSource(
  { first, others }: LedgerSearch,
  {
    more = sql``,
    where = [],
  }: { readonly more?: RawBuilder<unknown>; readonly where?: readonly Condition[] } = {},
): PartSource {
  const ledger = sql.table('ledger');
  const counted = { table: ledger, where: first ?? sql<boolean>`true` };
  const rest = [...others, ...where];
  if (!first || others.length === 0)
    return {
      counted,
      from: (within) => sql`ledger ${more} where ${allOf([counted.where, within, ...rest])}`,
    };
  return {
    counted,
    from: (within) => sql`
      (select at as place_at, id as place_id from ledger where ${first} and ${within}) as place
      cross join ledger ${more}
      where ledger.at = place_at and ledger.id = place_id and ${allOf(rest)}
    `,
  };
}

interface Rest {
  readonly startMs: number;
  readonly toMs: number;
  /** Max rows of a part. */
  readonly partSize: number;
}

/** End of the next part of a source; at least one millisecond after its start. */
export async function endOfPart(
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

export function timesWithin(startMs: number, endMs: number): Condition {
  return sql<boolean>`at >= ${startMs} and at < ${endMs}`;
}
