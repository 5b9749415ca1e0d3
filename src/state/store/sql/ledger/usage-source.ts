import type { RawBuilder } from 'kysely';
import type { UsageQuery } from '../../../../plugin/core.js';
import { groupColumnOf, type hourlyGroup } from '../../../ledger/usage.js';
import type { PairReading } from '../../../ledger/hourly-pair.js';
import { allOf, kindCondition } from './conditions.js';
import { pairKind } from './pair-tables.js';
import type { LedgerSearch } from './ledger-search.js';
import { plainSource, searchedSource, type Dialect, type PartSource } from './parts.js';
import { sumColumns, tokenColumns, type SumColumn, type SumKind } from '../tables/tables.js';
import { sql } from '../kysely.js';

/** Rows to sum, with their group; null: one for all. */
export interface UsageSource extends PartSource {
  readonly group: RawBuilder<string> | null;
  readonly sums: RawBuilder<unknown>;
}

/** Hourly sums of one kind of group, or of one group alone. */
export function hourSource({ by, tag }: UsageQuery, { kind, name }: HourlyGroup): UsageSource {
  const sums: SumKind = kind === 'tag' && tag !== undefined ? `tag:${tag}` : kind;
  const where = kindCondition(sums, name);
  return {
    ...plainSource(sql.table('ledger_sums'), where),
    group: by === null ? null : sql`name`,
    sums: sumsBy((column) => sql.ref(column)),
  };
}

type HourlyGroup = NonNullable<ReturnType<typeof hourlyGroup>>;

/** Hourly sums of a pair of groups. */
export function pairSource({ pair, names, by }: PairReading): UsageSource {
  const kind = sql<boolean>`kind = ${pairKind(pair)}`;
  const table = sql.table('ledger_pairs');
  const named = names.flatMap((name, at) =>
    name === undefined ? [] : [sql<boolean>`${pairNames[at]} = ${name}`],
  );
  return {
    counted: { table, where: kind },
    from: (within) => sql`${table} where ${allOf([kind, within, ...named])}`,
    group: by === null ? null : pairNames[by],
    sums: sumsBy((column) => sql.ref(column)),
  };
}

const pairNames = [sql.ref<string>('first_name'), sql.ref<string>('second_name')] as const;

/** Rows that a search finds, each counted by itself. */
export function rowSource({ by, tag }: UsageQuery, dialect: Dialect, search: LedgerSearch): UsageSource {
  if (by === 'tag') return tagSource(tag, dialect, search);
  if (by === 'stage') return stageSource(dialect, search);
  const sums = sumsOfRows;
  if (by === 'cause') {
    const where = [sql<boolean>`cache_cause is not null`];
    return { ...searchedSource(search, dialect, { where }), group: sql<string>`cache_cause`, sums };
  }
  if (by === 'asked_model')
    return { ...searchedSource(search, dialect), group: sql<string>`coalesce(asked_model, model)`, sums };
  return { ...searchedSource(search, dialect), group: by && sql.ref<string>(groupColumnOf[by]), sums };
}

/** One row for each tag of each request. */
function tagSource(tag: string | undefined, dialect: Dialect, search: LedgerSearch): UsageSource {
  const each = dialect === 'sqlite' ? sql`json_each(ledger.tags)` : sql`json_each_text(ledger.tags::json)`;
  const where = tag === undefined ? [] : [sql<boolean>`tag.key = ${tag}`];
  return {
    ...searchedSource(search, dialect, { more: sql`cross join ${each} as tag`, where }),
    group: tag === undefined ? sql<string>`tag.key` : sql<string>`tag.value`,
    sums: sumsBy(ofRow),
  };
}

/** One row for each stage that added tokens to a request. */
function stageSource(dialect: Dialect, search: LedgerSearch): UsageSource {
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
    ...searchedSource(search, dialect, { more: sql`cross join ${added.each} as addition` }),
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

/** Sums of rows of the ledger. */
export const sumsOfRows = sumsBy(ofRow);
