import { sql, type RawBuilder } from 'kysely';
import type { UsageGroup, UsageQuery } from '../../../../plugin/core.js';
import { groupColumnOf, restOf } from '../../../ledger/groups.js';
import { additionSql, sumColumns, sumSql } from '../../../ledger/sums.js';
import type { hourlyGroup } from '../../../ledger/usage-query.js';
import type { PairReading } from '../../../ledger/hourly-pair.js';
import { allOf, kindCondition } from './conditions.js';
import { pairKind } from './pairs/pair-tables.js';
import type { LedgerSearch } from './ledger-search.js';
import { plainSource, searchedSource, type Dialect, type PartSource } from './parts.js';
import type { SumKind } from '../tables/tables.js';

/** Rows to sum, with their group; null: one for all. */
export interface UsageSource extends PartSource {
  readonly group: RawBuilder<string> | null;
  readonly sums: RawBuilder<unknown>;
}

/** Hourly sums of one kind of group, or of one group alone. */
export function hourSource({ by, tag }: UsageQuery, { kind, name }: HourlyGroup): UsageSource {
  const rest = restOf(kind);
  if (rest !== undefined && (name === undefined || name === rest))
    return restSource(by, { kind, name, rest });
  const sums: SumKind = kind === 'tag' && tag !== undefined ? `tag:${tag}` : kind;
  const where = kindCondition(sums, name);
  return {
    ...plainSource(sql.table('ledger_sums'), where),
    group: by === null ? null : sql`name`,
    sums: sumsOfSums,
  };
}

/**
 * Hourly sums of a group with a rest: those of its names, unless only the rest is asked for, and the rest, as the sums
 * of all requests with those of the names subtracted. Hours without a rest have a sum of zero requests.
 */
function restSource(
  by: UsageQuery['by'],
  {
    kind,
    name,
    rest,
  }: { readonly kind: UsageGroup; readonly name: string | undefined; readonly rest: string },
): UsageSource {
  const table = sql.table('ledger_sums');
  const [all, named] = [kindCondition('format', undefined), kindCondition(kind, undefined)];
  const restName = sql<string>`cast(${sql.lit(rest)} as text)`;
  const from: UsageSource['from'] = (within) => {
    const part = (group: RawBuilder<string>, sign: string, where: RawBuilder<unknown>) =>
      sql`select at, ${group} as name, ${signed(sign)} from ${table} where ${where} and ${within}`;
    const parts = [part(restName, '', all), part(restName, '-', named)];
    if (name === undefined) parts.push(part(sql.ref<string>('name'), '', named));
    return sql`(${sql.join(parts, sql` union all `)}) as parts`;
  };
  const either = sql<boolean>`kind in ('format', ${kind})`;
  return { counted: { table, where: either }, from, group: by === null ? null : sql`name`, sums: sumsOfSums };
}

function signed(sign: string): RawBuilder<unknown> {
  return sql.raw(sumColumns.map((column) => `${sign}${column} as ${column}`).join(', '));
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
    sums: sumsOfSums,
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
    sums: sumsOfRows,
  };
}

/** One row for each stage that added tokens to a request. */
function stageSource(dialect: Dialect, search: LedgerSearch): UsageSource {
  const { each, at } = readAddition[dialect];
  const added = additionSql(at);
  return {
    ...searchedSource(search, dialect, { more: sql`cross join ${each} as addition` }),
    group: sql<string>`addition.key`,
    sums: sumsBy(sumSql((column) => added.get(column) ?? column)),
  };
}

/** Reader of the result of `additionsJson`. */
const readAddition = {
  sqlite: {
    each: sql`json_each(ledger.additions)`,
    at: (place: number) => `json_extract(addition.value, '$[${place}]')`,
  },
  postgres: {
    each: sql`json_each(ledger.additions::json)`,
    at: (place: number) => `(addition.value ->> ${place})::bigint`,
  },
} as const;

function sumsBy(values: readonly string[]): RawBuilder<unknown> {
  return sql.raw(sumColumns.map((column, at) => `sum(${values[at]}) as ${column}`).join(', '));
}

/** Sums of rows of the ledger. */
export const sumsOfRows = sumsBy(sumSql());

/** Sums of existing sums. */
const sumsOfSums = sumsBy(sumColumns);
