import { sql, type Kysely } from 'kysely';
import type { ProtocolKey } from '../../../../plugin/index.js';
import { index } from '../tables/first-tables.js';
import type { Tables } from '../tables/tables.js';

/** Column with the former secrets of a key, and an index of them by hash, which JSON lacks. */
export async function formerSecrets(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('former_secrets', 'text').execute();
  await db.schema
    .createTable('former_secrets')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .execute();
  await index(db, 'former_secrets', ['key_id']);
}

/** Id of the key that has had this secret, as a condition of a query. */
export function idByFormerHash(hash: string) {
  return sql<string>`(select key_id from former_secrets where hash = ${hash})`;
}

/** Indexes the former secrets of a key, and no others. */
export async function indexFormerSecrets(db: Kysely<Tables>, key: ProtocolKey): Promise<void> {
  await forgetFormerSecrets(db, key.id);
  const rows = (key.formerSecrets ?? []).map(({ hash }) => ({ hash, key_id: key.id }));
  if (rows.length > 0) await db.insertInto('former_secrets').values(rows).execute();
}

export async function forgetFormerSecrets(db: Kysely<Tables>, keyId: string): Promise<void> {
  await db.deleteFrom('former_secrets').where('key_id', '=', keyId).execute();
}
