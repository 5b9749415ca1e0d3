import { sql, type Kysely } from 'kysely';
import type { LedgerFilter } from '../../../../plugin/core.js';
import {
  allOf,
  commonConditions,
  indexedConditions,
  type Condition,
  type IndexedCondition,
} from './conditions.js';
import type { Tables } from '../tables/tables.js';

/** Rows of a filter: one condition is looked up in its index, the others filter the rows found. */
export interface LedgerSearch {
  readonly within: readonly Condition[];
  /** Condition that is looked up by index. */
  readonly first: Condition | undefined;
  /** Conditions that filter the rows found. */
  readonly others: readonly Condition[];
  /** Indexed ones among `others`. */
  readonly indexed: readonly IndexedCondition[];
}

/** Search that looks up the rarest condition of a filter. */
export async function searchFor(db: Kysely<Tables>, filter: LedgerFilter): Promise<LedgerSearch> {
  const within = spanOf(filter);
  const indexed = indexedConditions(filter);
  const first = indexed.length > 1 ? await rarestOf(db, within, indexed) : indexed[0];
  const rest = indexed.filter((condition) => condition !== first);
  const others = [...rest.map(({ where }) => where), ...commonConditions(filter)];
  return { within, first: first?.where, others, indexed: rest };
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
  conditions: readonly IndexedCondition[],
): Promise<IndexedCondition | undefined> {
  const all: { readonly condition: IndexedCondition; readonly count: number; readonly oldestMs: number }[] =
    [];
  for (const condition of conditions)
    all.push({ condition, ...(await latestOf(db, [...within, condition.where])) });
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
