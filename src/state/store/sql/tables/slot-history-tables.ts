import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

/** Makes the tables of the history of slots. */
export async function slotHistoryTables(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('slot_changes')
    .addColumn('slot', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('until', 'bigint')
    .addColumn('models', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .addPrimaryKeyConstraint('slot_changes_pk', ['slot', 'at'])
    .execute();
  await db.schema
    .createTable('window_samples')
    .addColumn('slot', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('percent', 'double precision', (column) => column.notNull())
    .addColumn('resets_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('window_samples_pk', ['slot', 'kind', 'at'])
    .execute();
  for (const table of ['slot_changes', 'window_samples'])
    await db.schema.createIndex(`${table}_by_at`).on(table).column('at').execute();
}
