import type { Kysely } from 'kysely';
import { maxDeletedNames } from '../key-rules.js';
import type { Tables } from './tables/tables.js';

interface Deleted {
  readonly id: string;
  readonly name: string;
  readonly nowMs: number;
}

/** Keeps the name of a deleted key or team, which replaces the oldest if there are too many. */
export async function keepDeletedName(db: Kysely<Tables>, { id, name, nowMs }: Deleted): Promise<void> {
  await db
    .insertInto('deleted_keys')
    .values({ id, name, deleted_at: nowMs })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
    .execute();
  const oldest = await db
    .selectFrom('deleted_keys')
    .select('deleted_at')
    .orderBy('deleted_at', 'desc')
    .offset(maxDeletedNames)
    .limit(1)
    .executeTakeFirst();
  if (oldest) await db.deleteFrom('deleted_keys').where('deleted_at', '<=', oldest.deleted_at).execute();
}

/** Names by id, of a table and of deleted items. */
export async function namesIn(
  db: Kysely<Tables>,
  table: 'keys' | 'teams',
): Promise<ReadonlyMap<string, string>> {
  const deleted = await db.selectFrom('deleted_keys').select(['id', 'name']).execute();
  const records = await db.selectFrom(table).select(['id', 'name']).execute();
  return new Map([...deleted, ...records].map(({ id, name }) => [id, name]));
}
