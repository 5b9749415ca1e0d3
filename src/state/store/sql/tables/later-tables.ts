import { sql, type Kysely } from 'kysely';
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

/** The pipeline that a key or a team names. */
export async function pipelinesOfKeys(db: Kysely<Tables>): Promise<void> {
  for (const table of ['keys', 'teams'])
    await db.schema.alterTable(table).addColumn('pipeline', 'text').execute();
}

/** The pipeline of each request. Earlier ones had no other than the default, whose sums are the rest of all. */
export async function pipelinesOfRequests(db: Kysely<Tables>): Promise<void> {
  await sql`alter table ledger add column pipeline text not null default 'default'`.execute(db);
  await sql`create index ledger_by_pipeline on ledger (pipeline, at, id) where pipeline <> 'default'`.execute(
    db,
  );
}

/** Calls of stages: the request that each was made for, and its purpose. Earlier rows are all of callers. */
export async function callsOfStages(db: Kysely<Tables>): Promise<void> {
  await sql`alter table ledger add column parent text`.execute(db);
  await sql`alter table ledger add column label text not null default ''`.execute(db);
  await sql`create index ledger_by_parent on ledger (parent, at, id) where parent is not null`.execute(db);
  await sql`create index ledger_by_label on ledger (label, at, id) where label <> ''`.execute(db);
}

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
