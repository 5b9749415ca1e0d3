import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

const counts = [
  'requests_per_minute',
  'tokens_per_minute',
  'tokens_per_day',
  'tokens_per_month',
  'max_concurrent',
];
const budgets = ['usd_per_day', 'usd_per_month'];

/** Table of teams; the team and the budgets of keys. */
export async function teamsAndBudgets(db: Kysely<Tables>): Promise<void> {
  const bare = db.schema
    .createTable('teams')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('note', 'text');
  const counted = counts.reduce((table, column) => table.addColumn(column, 'bigint'), bare);
  await budgets.reduce((table, column) => table.addColumn(column, 'double precision'), counted).execute();
  for (const column of budgets)
    await db.schema.alterTable('keys').addColumn(column, 'double precision').execute();
  await db.schema.alterTable('keys').addColumn('team', 'text').execute();
  await db.schema.createIndex('keys_by_team').on('keys').column('team').execute();
}
