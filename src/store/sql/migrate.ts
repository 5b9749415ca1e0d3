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

/** State of the tables, as seen by this version. */
export interface Schema {
  /** `empty`: no tables; `older`: a start migrates them; `newer`: this version refuses them. */
  readonly state: 'empty' | 'older' | 'current' | 'newer';
  /** Name of the last migration; undefined where there is none. */
  readonly last: string | undefined;
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
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
  const foreign = rows.findLast(({ name }) => !known.some((migration) => migration.name === name));
  if (foreign) return { state: 'newer', last: foreign.name };
  const state = rows.length === 0 ? 'empty' : rows.length < known.length ? 'older' : 'current';
  return { state, last: rows.at(-1)?.name };
}

async function appliedTo(transaction: Transaction<Tables>): Promise<readonly string[]> {
  await sql`create table if not exists migrations (name text primary key)`.execute(transaction);
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(transaction);
  return rows.map(({ name }) => name);
}

/** Advisory lock id, unique on the database: "gw2api" on a telephone keypad. */
const lockId = 492274;
