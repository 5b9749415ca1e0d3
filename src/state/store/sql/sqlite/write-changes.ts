import type { Kysely } from 'kysely';
import type { Tables } from '../tables/tables.js';

/** Writes only the columns that differ, so that concurrent changes do not overwrite each other. */
export async function writeChanges<Table extends 'keys' | 'teams'>(
  db: Kysely<Tables>,
  table: Table,
  before: Tables[Table],
  after: Tables[Table],
): Promise<void> {
  const changed = Object.entries(after).filter(
    ([column, value]) => before[column as keyof Tables[Table]] !== value,
  ); // its own columns
  if (changed.length === 0) return;
  await db
    .updateTable<'keys' | 'teams'>(table)
    .set(Object.fromEntries(changed))
    .where('id', '=', before.id)
    .execute();
}
