import { sql, type Kysely } from 'kysely';
import { migratePostgres } from '../postgres/migrate-postgres.js';
import { appliedTo, apply, foreignIn, missingIn, versionOf } from '../ledger/migration-steps.js';
import { migrations, type Migration } from './migrations.js';
import type { Tables } from './tables.js';

/**
 * Migrates the tables to this version. Instances that start together take turns: by the file lock on SQLite,
 * by an advisory lock on PostgreSQL, which `migratePostgres` waits for.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  known: readonly Migration[] = migrations,
): Promise<void> {
  if (dialect === 'postgres') return migratePostgres(db, known);
  await db.transaction().execute(async (transaction) => {
    for (const migration of await missingIn(transaction, known)) await apply(migration, transaction, dialect);
  });
}

/** True if the tables are those of an older version. Needs no lock. */
export async function isOutdated(
  db: Kysely<Tables>,
  known: readonly Migration[] = migrations,
): Promise<boolean> {
  const count = sql<{ count: number }>`select count(*) as count from migrations`.execute(db);
  const applied = await count.then(
    ({ rows }) => rows[0]?.count ?? 0,
    () => 0, // no such table: a new file, or not a database
  );
  return applied > 0 && applied < known.length;
}

/** State of the tables, as seen by this version. */
export interface Schema {
  /** `empty`: no tables; `older`: a start migrates them; `newer`: this version refuses them. */
  readonly state: 'empty' | 'older' | 'current' | 'newer';
  /** Name of the last migration; undefined if there is none. */
  readonly last: string | undefined;
  /** Version that has made that migration, as far as it is recorded. */
  readonly version?: string | undefined;
}

/** Reads the state of the tables and changes nothing. */
export async function schemaOf(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  known: readonly Migration[] = migrations,
): Promise<Schema> {
  const table =
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table' and name = 'migrations'`
      : sql<{ name: string }>`select 'migrations' as name where to_regclass('migrations') is not null`;
  if ((await table.execute(db)).rows.length === 0) return { state: 'empty', last: undefined };
  const applied = await appliedTo(db);
  const foreign = foreignIn(applied, known);
  if (foreign !== undefined) return { state: 'newer', last: foreign, version: await versionOf(db, foreign) };
  const state = applied.length === 0 ? 'empty' : applied.length < known.length ? 'older' : 'current';
  return { state, last: applied.at(-1) };
}
