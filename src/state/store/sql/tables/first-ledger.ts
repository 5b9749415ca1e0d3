import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import { index } from './first-tables.js';
import type { Tables } from './tables.js';

/** Indexes for each selective filter, all ending in the order of pages. */
export async function ledger(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const table = db.schema
    .createTable('ledger')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('failed', 'integer', (column) => column.notNull())
    .addColumn('streamed', 'integer', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('first_event_ms', 'bigint')
    .addColumn('duration_ms', 'bigint', (column) => column.notNull());
  const whole = withNumbers(withTexts(table, firstGroups), firstTokens).addPrimaryKeyConstraint('ledger_pk', [
    'at',
    'id',
  ]);
  await (dialect === 'sqlite' ? whole.modifyEnd(sql`without rowid`) : whole).execute();
  for (const column of ['key_id', 'slot', 'model', 'failed', 'code'])
    await index(db, 'ledger', [column, 'at', 'id']);
  await index(db, 'ledger', ['request_id']);
}

export async function ledgerHours(db: Kysely<Tables>): Promise<void> {
  const table = db.schema.createTable('ledger_hours').addColumn('at', 'bigint', (column) => column.notNull());
  await withNumbers(withTexts(table, firstGroups), firstSums)
    .addPrimaryKeyConstraint('ledger_hours_pk', ['at', ...firstGroups])
    .execute();
}

/** Replaces the hours that were divided by all groups at once, and is filled from them. */
export async function ledgerSums(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const table = db.schema.createTable('ledger_sums').addColumn('at', 'bigint', (column) => column.notNull());
  const whole = withNumbers(withTexts(table, ['kind', 'name']), firstSums).addPrimaryKeyConstraint(
    'ledger_sums_pk',
    ['kind', 'at', 'name'],
  );
  await (dialect === 'sqlite' ? whole.modifyEnd(sql`without rowid`) : whole).execute();
  const columns = firstSums.map((column) => sql.ref(column));
  const sums = firstSums.map((column) => sql`sum(${sql.ref(column)})`);
  for (const [kind, column] of firstKinds)
    await sql`
      insert into ledger_sums (kind, at, name, ${sql.join(columns)})
      select ${sql.lit(kind)}, at, ${sql.ref(column)}, ${sql.join(sums)} from ledger_hours group by at, ${sql.ref(column)}
    `.execute(db);
  await db.schema.dropTable('ledger_hours').execute();
  await db.schema
    .createIndex('ledger_sums_by_name')
    .on('ledger_sums')
    .columns(['kind', 'name', 'at'])
    .execute();
}

/** Restricts indexes to rare values: common values are never looked up by index, so they only cost. */
export async function rareValues(db: Kysely<Tables>): Promise<void> {
  for (const column of ['failed', 'code']) await db.schema.dropIndex(`ledger_by_${column}`).execute();
  await sql`create index ledger_by_failed on ledger (at, id) where failed = 1`.execute(db);
  await sql`create index ledger_by_code on ledger (code, at, id) where code is not null`.execute(db);
  await sql`create index ledger_by_status on ledger (status, at, id) where status <> 200`.execute(db);
  await index(db, 'ledger', ['format', 'at', 'id']);
  // In the order of pages, or PostgreSQL takes reading all of the ledger in that order for the shorter way.
  await db.schema.dropIndex('ledger_by_request_id').execute();
  await index(db, 'ledger', ['request_id', 'at', 'id']);
}

/** Columns as of the first migrations, regardless of later additions to tables.ts. */
const firstGroups = ['key_id', 'slot', 'model', 'format'];

const firstKinds = [
  ['key', 'key_id'],
  ['slot', 'slot'],
  ['model', 'model'],
  ['format', 'format'],
] as const;

const tokenNames = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'];
const firstTokens = tokenNames.flatMap((name) => [`${name}_tokens`, `shown_${name}_tokens`]);
const firstCounts = ['requests', 'errors', 'first_events', 'first_event_ms_sum', 'duration_ms_sum'];
const firstSums = [...firstCounts, ...firstTokens];

function withTexts(table: CreateTableBuilder<string, string>, columns: readonly string[]) {
  return columns.reduce((made, name) => made.addColumn(name, 'text', (column) => column.notNull()), table);
}

function withNumbers(table: CreateTableBuilder<string, string>, columns: readonly string[]) {
  return columns.reduce((made, name) => made.addColumn(name, 'bigint', (column) => column.notNull()), table);
}
