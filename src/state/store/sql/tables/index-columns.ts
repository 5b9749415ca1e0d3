import type { Kysely } from 'kysely';
import type { Tables } from './tables.js';

/** Creates an index of these columns, named after the first one. */
export async function index(db: Kysely<Tables>, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns[0]}`)
    .on(table)
    .columns([...columns])
    .execute();
}
