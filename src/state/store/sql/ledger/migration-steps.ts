import { sql, type Kysely, type Transaction } from 'kysely';
import { version } from '../../../../kit/version.js';
import { StoreError } from '../../store-error.js';
import type { Migration } from '../tables/migrations.js';
import type { Tables } from '../tables/tables.js';

/** Migrations that the tables lack. Throws a StoreError for tables of a newer version. */
export async function missingIn(
  transaction: Transaction<Tables>,
  known: readonly Migration[],
): Promise<readonly Migration[]> {
  await sql`create table if not exists migrations (name text primary key)`.execute(transaction);
  const applied = await appliedTo(transaction);
  const foreign = foreignIn(applied, known);
  if (foreign !== undefined)
    throw newerError('The store', { last: foreign, version: await versionOf(transaction, foreign) });
  return known.filter(({ name }) => !applied.includes(name));
}

/** Runs one step, with its row in `migrations`. */
export async function apply(
  migration: Migration,
  transaction: Transaction<Tables>,
  dialect: 'sqlite' | 'postgres',
): Promise<void> {
  const { name } = migration;
  await migration.up(transaction, dialect);
  await sql`insert into migrations (name) values (${name})`.execute(transaction);
  if (name >= firstWithVersion)
    await sql`insert into migration_versions (name, version) values (${name}, ${version})`.execute(
      transaction,
    );
}

/** The step that makes the table of versions; it and those after it are recorded with their version. */
const firstWithVersion = '0024';

/** Names of the recorded steps, in their order. */
export async function appliedTo(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The last step that this version does not know. */
export function foreignIn(applied: readonly string[], known: readonly Migration[]): string | undefined {
  return applied.findLast((name) => !known.some((migration) => migration.name === name));
}

/** Version that has made a step; undefined if it is not recorded. */
export async function versionOf(db: Kysely<Tables>, step: string): Promise<string | undefined> {
  const found = sql<{ version: string }>`select version from migration_versions where name = ${step}`.execute(
    db,
  );
  return found.then(
    ({ rows }) => rows[0]?.version,
    () => undefined, // no such table
  );
}

/** Error of tables of a newer version, with that version if it is recorded. */
export function newerError(
  what: string,
  {
    last = '',
    version: newer = 'that one',
  }: { readonly last?: string | undefined; readonly version?: string | undefined },
): StoreError {
  return new StoreError(`${what} was written by a newer version of gw2api (it has "${last}"); use ${newer}.`);
}
