import { sql, type Kysely } from 'kysely';
import type { Store } from '../contract/store.js';
import type { Tables } from './tables/tables.js';
import { stepResult, type StepResult } from '../../step-result.js';

/** Sticky bindings. */
export function sqlBindings(db: Kysely<Tables>, now: () => number): Store['bindings'] {
  return {
    deleteExpired: deleteExpired(db, 'bindings', ['sticky_key'], now),
    async get(stickyKey) {
      const record = await db
        .selectFrom('bindings')
        .select(['slot_id', 'expires_at'])
        .where('sticky_key', '=', stickyKey)
        .where('expires_at', '>', now())
        .executeTakeFirst();
      return record && { slotId: record.slot_id, expiresAtMs: record.expires_at };
    },
    async put(stickyKey, { slotId, expiresAtMs }) {
      const rest = { slot_id: slotId, expires_at: expiresAtMs };
      await db
        .insertInto('bindings')
        .values({ sticky_key: stickyKey, ...rest })
        .onConflict((conflict) => conflict.column('sticky_key').doUpdateSet(rest))
        .execute();
    },
    async delete(stickyKey) {
      await db.deleteFrom('bindings').where('sticky_key', '=', stickyKey).execute();
    },
    async countBySlot() {
      const counts = await db
        .selectFrom('bindings')
        .select(({ fn }) => ['slot_id', fn.countAll<number>().as('sessions')])
        .where('expires_at', '>', now())
        .groupBy('slot_id')
        .execute();
      return new Map(counts.map(({ slot_id: slotId, sessions }) => [slotId, sessions]));
    },
  };
}

/** Neither database supports a limit on deletes, so that a query for the primary keys sets it. */
export function deleteExpired(
  db: Kysely<Tables>,
  table: 'sessions' | 'bindings' | 'responses' | 'plugin_values',
  primaryKey: readonly string[],
  now: () => number,
): (limit: number) => Promise<StepResult> {
  const columns = sql.join(primaryKey.map((column) => sql.ref(column)));
  return async (limit) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where (${columns}) in
        (select ${columns} from ${sql.table(table)} where expires_at <= ${now()} order by expires_at limit ${limit})
    `.execute(db);
    return stepResult(numAffectedRows, limit);
  };
}
