import type { Kysely, Transaction } from 'kysely';
import { StoreError } from '../store-error.js';
import { migrations, type Migration } from './migrations.js';
import type { Tables } from './tables.js';
import { sql } from './kysely.js';

/**
 * Migrates the tables to this version. Instances that start together take turns: by the file lock on SQLite,
 * by an advisory lock on PostgreSQL.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  known: readonly Migration[] = migrations,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    if (dialect === 'postgres')
      await sql`select pg_advisory_xact_lock(${sql.lit(lockId)})`.execute(transaction);
    const applied = await appliedTo(transaction);
    const foreign = applied.find((name) => !known.some((migration) => migration.name === name));
    if (foreign !== undefined)
      throw new StoreError(
        `The store was written by a newer version of gw2api (it has "${foreign}"); use that one.`,
      );
    for (const migration of known) {
      if (applied.includes(migration.name)) continue;
      await migration.up(transaction, dialect);
      await sql`insert into migrations (name) values (${migration.name})`.execute(transaction);
    }
  });
}

/** True where the tables are those of an older version. Needs no lock. */
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

async function appliedTo(transaction: Transaction<Tables>): Promise<readonly string[]> {
  await sql`create table if not exists migrations (name text primary key)`.execute(transaction);
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(transaction);
  return rows.map(({ name }) => name);
}

/** Advisory lock id, unique on the database: "gw2api" on a telephone keypad. */
const lockId = 492274;
