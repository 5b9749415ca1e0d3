import { sql, type Kysely } from 'kysely';
import type { Tables } from './tables.js';

export async function keys(db: Kysely<Tables>): Promise<void> {
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

export async function deletedKeys(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('deleted_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('deleted_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'deleted_keys', ['deleted_at']);
}

export async function credentials(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('credentials')
    .addColumn('slot_id', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute();
}

export async function slots(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('slots')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('sealed_account', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
}

export async function slotStates(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('slot_states')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .execute();
  await index(db, 'slot_states', ['expires_at']);
}

/** Makes the table of plugin values, with keys compared byte by byte, so that those with a prefix are a range. */
export async function pluginValues(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
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

export async function sessions(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('csrf_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'sessions', ['expires_at']);
}

export async function bindings(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('bindings')
    .addColumn('sticky_key', 'text', (column) => column.primaryKey())
    .addColumn('slot_id', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'bindings', ['expires_at']);
}

export async function responses(db: Kysely<Tables>): Promise<void> {
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

/** Creates an index of these columns, named after the first one. */
export async function index(db: Kysely<Tables>, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns[0]}`)
    .on(table)
    .columns([...columns])
    .execute();
}
