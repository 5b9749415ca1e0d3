import type { Transaction } from 'kysely';
import { StoreError } from '../store-error.js';
import type { Migration } from './migrations.js';
import type { Tables } from './tables.js';
import { sql } from './kysely.js';

/** Migrations that the tables lack. Throws a StoreError for tables of a newer version. */
export async function missingIn(
  transaction: Transaction<Tables>,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  const applied = await appliedTo(transaction);
  const foreign = applied.find((name) => !known.some((migration) => migration.name === name));
  if (foreign !== undefined)
    throw new StoreError(
      `The store was written by a newer version of gw2api (it has "${foreign}"); use that one.`,
    );
  return known.filter(({ name }) => !applied.includes(name));
}

/** Makes one step, with its row in `migrations`. */
export async function apply(
  migration: Migration,
  transaction: Transaction<Tables>,
  dialect: 'sqlite' | 'postgres',
): Promise<void> {
  await migration.up(transaction, dialect);
  await sql`insert into migrations (name) values (${migration.name})`.execute(transaction);
}

async function appliedTo(transaction: Transaction<Tables>): Promise<readonly string[]> {
  await sql`create table if not exists migrations (name text primary key)`.execute(transaction);
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(transaction);
  return rows.map(({ name }) => name);
}
