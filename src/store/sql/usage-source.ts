import type { RawBuilder } from 'kysely';
import type { UsageQuery } from '../../plugin/internal.js';
import { conditionsOf, groupColumnOf, type hourlyGroup } from '../../ledger/usage.js';
import { allOf, rowConditions } from './conditions.js';
import { sumColumns, tokenColumns, type SumColumn, type SumKind } from './tables.js';
import { sql } from './kysely.js';

export type Dialect = 'sqlite' | 'postgres';

/** Table and columns to sum, with their filter and group. */
export interface UsageSource {
  readonly table: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly group: RawBuilder<string>;
  readonly sums: RawBuilder<unknown>;
}

/** Hourly sums of one kind of group, or of one group alone. */
export function hourSource({ by, tag }: UsageQuery, { kind, name }: HourlyGroup): UsageSource {
  const sums: SumKind = kind === 'tag' && tag !== undefined ? `tag:${tag}` : kind;
  return {
    table: sql.table('ledger_sums'),
    where: name === undefined ? sql`kind = ${sums}` : sql`kind = ${sums} and name = ${name}`,
    group: by === null ? sql`''` : sql`name`,
    sums: sumsBy((column) => sql.ref(column)),
  };
}

type HourlyGroup = NonNullable<ReturnType<typeof hourlyGroup>>;

/** Rows, each counted by itself. */
export function rowSource(query: UsageQuery, dialect: Dialect): UsageSource {
  const { by } = query;
  const where = allOf(rowConditions(conditionsOf(query)));
  if (by === 'tag') return tagSource(query, dialect, where);
  if (by === 'stage') return stageSource(dialect, where);
  const source = { table: sql.table('ledger'), sums: sumsBy(ofRow) };
  if (by === 'cause') {
    const hasCause = sql`${where} and cache_cause is not null`;
    return { ...source, where: hasCause, group: sql<string>`cache_cause` };
  }
  return { ...source, where, group: by === null ? sql<string>`''` : sql.ref<string>(groupColumnOf[by]) };
}

/** One row for each tag of each request. */
function tagSource({ tag }: UsageQuery, dialect: Dialect, where: RawBuilder<unknown>): UsageSource {
  const each = dialect === 'sqlite' ? sql`json_each(ledger.tags)` : sql`json_each_text(ledger.tags::json)`;
  return {
    table: sql`ledger, ${each} as tag`,
    where: tag === undefined ? where : sql`${where} and tag.key = ${tag}`,
    group: tag === undefined ? sql<string>`tag.key` : sql<string>`tag.value`,
    sums: sumsBy(ofRow),
  };
}

/** One row for each stage that added tokens to a request. */
function stageSource(dialect: Dialect, where: RawBuilder<unknown>): UsageSource {
  const added = readAddition[dialect];
  const tokens = sql.join(
    tokenColumns.map((_, at) => added.at(at)),
    sql` + `,
  );
  const cost = added.at(tokenColumns.length);
  const own: Partial<Record<SumColumn, RawBuilder<number>>> = {
    ...Object.fromEntries(
      tokenColumns.flatMap(([, billed, shown], at) => [
        [billed, added.at(at)],
        [shown, sql`0`],
      ]),
    ),
    billed_cost: sql`coalesce(${cost}, 0)`,
    shown_cost: sql`0`,
    unpriced: sql`case when ${cost} is null and ${tokens} > 0 then 1 else 0 end`,
    cache_lost_tokens: sql`0`,
    cache_lost_cost: sql`0`,
  };
  return {
    table: sql`ledger, ${added.each} as addition`,
    where,
    group: sql<string>`addition.key`,
    sums: sumsBy((column) => own[column] ?? ofRow(column)),
  };
}

/** Reading of what `writeAdditions` has written. */
const readAddition = {
  sqlite: {
    each: sql`json_each(ledger.additions)`,
    at: (place: number) => sql<number>`json_extract(addition.value, ${sql.lit(`$[${place}]`)})`,
  },
  postgres: {
    each: sql`json_each(ledger.additions::json)`,
    at: (place: number) => sql<number>`(addition.value ->> ${sql.lit(place)})::bigint`,
  },
} as const;

function sumsBy(valueOf: (column: SumColumn) => RawBuilder<number>): RawBuilder<unknown> {
  return sql.join(sumColumns.map((column) => sql`sum(${valueOf(column)}) as ${sql.ref(column)}`));
}

/** Contribution of one row to a sum. */
function ofRow(column: SumColumn): RawBuilder<number> {
  return fromRow[column] ?? sql.ref<number>(column);
}

const billedTokens = sql.join(
  tokenColumns.map(([, billed]) => sql.ref(billed)),
  sql` + `,
);

const fromRow: Partial<Record<SumColumn, RawBuilder<number>>> = {
  requests: sql`1`,
  errors: sql`failed`,
  first_events: sql`case when first_event_ms is null then 0 else 1 end`,
  first_event_ms_sum: sql`coalesce(first_event_ms, 0)`,
  duration_ms_sum: sql`duration_ms`,
  billed_cost: sql`coalesce(billed_cost, 0)`,
  shown_cost: sql`coalesce(shown_cost, 0)`,
  unpriced: sql`case when billed_cost is null and ${billedTokens} > 0 then 1 else 0 end`,
  cache_lost_tokens: sql`coalesce(cache_lost_tokens, 0)`,
  cache_lost_cost: sql`coalesce(cache_lost_cost, 0)`,
};
