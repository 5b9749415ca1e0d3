import { sql, type RawBuilder } from 'kysely';
import type { LedgerFilter } from '../../../../plugin/core.js';
import { filterColumns } from '../../../ledger/filters.js';

/** Condition on the rows of the ledger. */
export type Condition = RawBuilder<boolean>;

/** Condition with the name of its index. */
export interface IndexedCondition {
  readonly where: Condition;
  readonly index: string;
}

/** Indexed conditions. One with a partial index repeats that index's restriction, else it is not used. */
export function indexedConditions(filter: LedgerFilter): readonly IndexedCondition[] {
  return filterColumns
    .filter(({ name, common }) => filter[name] !== undefined && filter[name] !== common)
    .map(({ name, column, only }) => {
      const equal = isEqual(column, filter[name]);
      const where = only === undefined ? equal : sql<boolean>`${equal} and ${sql.raw(only)}`;
      return { where, index: `ledger_by_${column}` };
    });
}

/** Conditions without an index, as most rows fulfil them. */
export function commonConditions(filter: LedgerFilter): readonly Condition[] {
  return filterColumns
    .filter(({ name, common }) => common !== undefined && filter[name] === common)
    .map(({ name, column }) => isEqual(column, filter[name]));
}

/** Equality condition, with booleans as literals: only then is their partial index used. */
function isEqual(column: string, value: unknown): Condition {
  const operand = typeof value === 'boolean' ? sql.lit(Number(value)) : value;
  return sql<boolean>`${sql.ref(column)} = ${operand}`;
}

/** Condition on the hourly sums and counts: those of a kind of group, or of one group. */
export function kindCondition(kind: string, name: string | undefined): Condition {
  return name === undefined ? sql<boolean>`kind = ${kind}` : sql<boolean>`kind = ${kind} and name = ${name}`;
}

export function allOf(conditions: readonly Condition[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
