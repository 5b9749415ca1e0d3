import type { RawBuilder } from 'kysely';
import type { LedgerFilter } from '../../../../plugin/core.js';
import { sql } from '../kysely.js';

/** Condition on the rows of the ledger. */
export type Condition = RawBuilder<boolean>;

/** Condition with the name of its index. */
export interface IndexedCondition {
  readonly where: Condition;
  readonly index: string;
}

/** Indexed conditions. One with a partial index repeats that index's restriction, else it is not used. */
export function indexedConditions(filter: LedgerFilter): readonly IndexedCondition[] {
  const { requestId, session, code, cause, status, failed, keyId, team, slot, model, format } = filter;
  return [
    ...equal('request_id', requestId),
    ...equal('session', session),
    ...equal('code', code),
    ...equal('cache_cause', cause),
    ...(status === undefined || status === 200
      ? []
      : [by('status', sql<boolean>`status = ${status} and status <> 200`)]),
    ...(failed ? [by('failed', sql<boolean>`failed = 1`)] : []),
    ...equal('key_id', keyId),
    ...(team === undefined ? [] : [by('team', sql<boolean>`team = ${team} and team <> ''`)]),
    ...equal('slot', slot),
    ...equal('model', model),
    ...equal('format', format),
  ];
}

function equal(column: string, value: string | number | undefined): readonly IndexedCondition[] {
  return value === undefined ? [] : [by(column, sql<boolean>`${sql.ref(column)} = ${value}`)];
}

function by(column: string, where: Condition): IndexedCondition {
  return { where, index: `ledger_by_${column}` };
}

/** Conditions without an index, as most rows fulfil them. */
export function commonConditions({ status, failed }: LedgerFilter): readonly Condition[] {
  return [
    ...(status === 200 ? [sql<boolean>`status = 200`] : []),
    ...(failed === false ? [sql<boolean>`failed = 0`] : []),
  ];
}

/** Condition on the hourly sums and counts: those of a kind of group, or of one group. */
export function kindCondition(kind: string, name: string | undefined): Condition {
  return name === undefined ? sql<boolean>`kind = ${kind}` : sql<boolean>`kind = ${kind} and name = ${name}`;
}

export function allOf(conditions: readonly Condition[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
