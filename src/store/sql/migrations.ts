import type { CreateTableBuilder, Kysely } from 'kysely';
import { adminTokensTable, auditTable } from './audit-tables.js';
import { ledgerLatency } from './latency-counts.js';
import { responseTotals } from './response-totals.js';
import { ledgerMoney } from './ledger-money.js';
import { slotHistoryTables } from './slot-history-tables.js';
import type { Tables } from './tables.js';
import { teamsAndBudgets } from './team-tables.js';
import { sql } from './kysely.js';

/** Migration: one step of the schema. A released one is never edited; a change is a new migration. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void>;
}

export const migrations: readonly Migration[] = [
  {
    name: '0001-first-tables',
    async up(db, dialect) {
      for (const table of [keys, credentials, slots, sessions, bindings, responses]) await table(db);
      await ledger(db, dialect);
      await ledgerHours(db);
    },
  },
  {
    name: '0002-ledger-trace',
    async up(db) {
      await db.schema.alterTable('ledger').addColumn('trace', 'text').execute();
    },
  },
  {
    name: '0003-sums-and-rare-values',
    async up(db, dialect) {
      await ledgerSums(db, dialect);
      await rareValues(db);
    },
  },
  { name: '0004-response-totals', up: responseTotals },
  { name: '0005-names-of-deleted-keys', up: deletedKeys },
  {
    name: '0006-slot-states',
    async up(db) {
      await slotStates(db);
      await db.schema.alterTable('keys').addColumn('max_concurrent', 'bigint').execute();
    },
  },
  {
    name: '0007-usage-tags',
    async up(db) {
      await db.schema.alterTable('ledger').addColumn('tags', 'text').execute();
    },
  },
  { name: '0008-plugin-values', up: pluginValues },
  {
    name: '0009-slots-of-keys',
    async up(db) {
      await db.schema.alterTable('keys').addColumn('slots', 'text').execute();
    },
  },
  { name: '0010-audit', up: auditTable },
  { name: '0011-admin-tokens', up: adminTokensTable },
  {
    name: '0012-people-of-sessions',
    async up(db) {
      for (const column of ['actor_kind', 'actor_name', 'role', 'address', 'user_agent'])
        await db.schema.alterTable('sessions').addColumn(column, 'text').execute();
      await db.schema.alterTable('sessions').addColumn('last_seen_at', 'bigint').execute();
    },
  },
  { name: '0013-ledger-money', up: ledgerMoney },
  { name: '0014-teams-and-budgets', up: teamsAndBudgets },
  { name: '0015-ledger-latency', up: ledgerLatency },
  { name: '0016-slot-history', up: slotHistoryTables },
];

async function keys(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('last4', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('models', 'text')
    .addColumn('requests_per_minute', 'bigint')
    .addColumn('tokens_per_minute', 'bigint')
    .addColumn('tokens_per_day', 'bigint')
    .addColumn('tokens_per_month', 'bigint')
    .addColumn('note', 'text')
    .execute();
}

async function deletedKeys(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('deleted_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('deleted_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'deleted_keys', ['deleted_at']);
}

async function credentials(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('credentials')
    .addColumn('slot_id', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute();
}

async function slots(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('slots')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('sealed_account', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function slotStates(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('slot_states')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .execute();
  await index(db, 'slot_states', ['expires_at']);
}

/** Keys are compared byte by byte, so that those with a prefix are a range. */
async function pluginValues(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const bytewise = dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
  await db.schema
    .createTable('plugin_values')
    .addColumn('space', 'text', (column) => column.notNull())
    .addColumn('key', bytewise, (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addPrimaryKeyConstraint('plugin_values_pk', ['space', 'key'])
    .execute();
  await index(db, 'plugin_values', ['expires_at']);
}

async function sessions(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('csrf_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'sessions', ['expires_at']);
}

async function bindings(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('bindings')
    .addColumn('sticky_key', 'text', (column) => column.primaryKey())
    .addColumn('slot_id', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'bindings', ['expires_at']);
}

async function responses(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('responses')
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('responses_pk', ['owner', 'id'])
    .execute();
  await index(db, 'responses', ['expires_at']);
}

/** Indexes for each selective filter, all ending in the order of pages. */
async function ledger(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
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

async function ledgerHours(db: Kysely<Tables>): Promise<void> {
  const table = db.schema.createTable('ledger_hours').addColumn('at', 'bigint', (column) => column.notNull());
  await withNumbers(withTexts(table, firstGroups), firstSums)
    .addPrimaryKeyConstraint('ledger_hours_pk', ['at', ...firstGroups])
    .execute();
}

/** In place of the hours that were divided by everything at once; filled from them. */
async function ledgerSums(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
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
async function rareValues(db: Kysely<Tables>): Promise<void> {
  for (const column of ['failed', 'code']) await db.schema.dropIndex(`ledger_by_${column}`).execute();
  await sql`create index ledger_by_failed on ledger (at, id) where failed = 1`.execute(db);
  await sql`create index ledger_by_code on ledger (code, at, id) where code is not null`.execute(db);
  await sql`create index ledger_by_status on ledger (status, at, id) where status <> 200`.execute(db);
  await index(db, 'ledger', ['format', 'at', 'id']);
  // In the order of pages, or PostgreSQL takes reading all of the ledger in that order for the shorter way.
  await db.schema.dropIndex('ledger_by_request_id').execute();
  await index(db, 'ledger', ['request_id', 'at', 'id']);
}

/** Columns as the first migrations made them, whatever tables.ts has added since. */
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

async function index(db: Kysely<Tables>, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns[0]}`)
    .on(table)
    .columns([...columns])
    .execute();
}
