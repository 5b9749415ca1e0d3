import { sql, type Kysely } from 'kysely';
import type { Tables } from './tables.js';

/** Makes the table of the audit log. Its texts are compared byte by byte; a trigger refuses updates. */
export async function auditTable(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const bytewise = dialect === 'sqlite' ? sql`text` : sql`text collate "C"`;
  await db.schema
    .createTable('audit')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('id', bytewise, (column) => column.notNull())
    .addColumn('actor_kind', 'text', (column) => column.notNull())
    .addColumn('actor_name', 'text', (column) => column.notNull())
    .addColumn('action', bytewise, (column) => column.notNull())
    .addColumn('target', 'text')
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .addColumn('address', 'text')
    .addColumn('request_id', 'text')
    .addPrimaryKeyConstraint('audit_pk', ['at', 'id'])
    .execute();
  for (const column of ['actor_name', 'action', 'target'])
    await db.schema.createIndex(`audit_by_${column}`).on('audit').columns([column, 'at', 'id']).execute();
  for (const statement of dialect === 'sqlite' ? sqliteTriggers : postgresTriggers)
    await statement.execute(db);
}

const sqliteTriggers = [
  sql`
    create trigger audit_stays before update on audit
    begin select raise(abort, 'The audit log is append-only.'); end
  `,
];

const postgresTriggers = [
  sql`
    create function refuse_audit_update() returns trigger language plpgsql as $$
    begin raise exception 'The audit log is append-only.'; end $$
  `,
  sql`
    create trigger audit_stays before update on audit
    for each statement execute function refuse_audit_update()
  `,
];

/** Makes the table of admin tokens. */
export async function adminTokensTable(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('admin_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('last4', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
}
