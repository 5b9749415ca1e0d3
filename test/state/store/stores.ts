import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { Logger } from '@gw2api/gateway/plugin';
import { fakeHost } from '@gw2api/gateway/testing';
import { openStore } from '#src/state/store/index.js';
import type { WholeStore } from '#src/state/store/contract/store.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { sql, type Kysely } from 'kysely';
import { openPostgres } from '#src/state/store/sql/postgres/postgres.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import type { Tables } from '#src/state/store/sql/tables/tables.js';
import type { OpenStore } from './conformance.js';

/** A key that is taken as it stands: a phrase would be derived anew, at 50 ms, by each store. */
export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** Something that is taken away again. */
export interface Place<Where> {
  readonly where: Where;
  readonly remove: () => Promise<void>;
}

/** A folder of its own. */
export async function ownFolder(): Promise<Place<string>> {
  const where = await mkdtemp(path.join(tmpdir(), 'gw2api-store-'));
  return { where, remove: () => rm(where, { recursive: true, force: true }) };
}

/** A SQLite file in a folder of its own. */
export async function ownSqlite(): Promise<Place<StoreSettings & { kind: 'sqlite' }>> {
  const { where, remove } = await ownFolder();
  return { where: { kind: 'sqlite', file: path.join(where, 'data', 'gateway.db') }, remove };
}

/** The PostgreSQL server for tests; undefined: there is none. */
export const postgresUrl = process.env['GW_TEST_POSTGRES_URL'];

/** A schema of its own on that server. */
export async function ownPostgres(server: string): Promise<Place<StoreSettings & { kind: 'postgres' }>> {
  const schema = `gw_test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create schema ${schema}`);
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return {
    where: { kind: 'postgres', url: url.href },
    remove: () => onServer(server, `drop schema ${schema} cascade`),
  };
}

/** A SQLite file with the tables of this version, in a folder of its own. */
export async function migratedSqlite(): Promise<Place<StoreSettings & { kind: 'sqlite' }>> {
  const place = await ownSqlite();
  await copyMigrated(place.where.file);
  return place;
}

/** Puts a SQLite file with the tables of this version where a store will be opened, which then migrates nothing. */
export async function copyMigrated(file: string): Promise<void> {
  migrated ??= makeMigrated();
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, await migrated, { mode: 0o600 });
}

/** Bytes of a file that was migrated once in this process. */
let migrated: Promise<Buffer> | undefined;

async function makeMigrated(): Promise<Buffer> {
  const { where, remove } = await ownSqlite();
  await (await openStore(where, { log: quiet })).close();
  const bytes = await readFile(where.file);
  await remove();
  return bytes;
}

/** The tables of a store, as they are. */
export async function openTables(where: StoreSettings): Promise<Kysely<Tables>> {
  if (where.kind === 'memory') throw new Error('It keeps nothing.');
  if (where.kind === 'sqlite') return openSqlite(startSqliteThread(where.file));
  return (await openPostgres(where.url, quiet)).db;
}

/** Opens stores for a suite, each in a place of its own. */
export function opener(makePlace: () => Promise<Place<StoreSettings>>): OpenStore {
  return async (now) => {
    const { where, remove } = await makePlace();
    const store = await openStore(where, { secretKey, log: quiet, now });
    const close = async () => {
      await store.close();
      await remove();
    };
    return { store, close };
  };
}

/** Opens one store for a suite, in one place; what a test has written is deleted at its end. */
export function emptiedOpener(makePlace: () => Promise<Place<StoreSettings>>): OpenStore {
  let now = Date.now;
  let opened: Promise<Emptied> | undefined;
  after(async () => {
    const kept = await opened;
    await kept?.store.close();
    await kept?.tables.destroy();
    await kept?.remove();
  });
  return async (clock) => {
    now = clock;
    opened ??= openEmptied(makePlace, () => now());
    const { store, tables, names } = await opened;
    return { store, close: () => emptyTables(tables, names) };
  };
}

interface Emptied extends Pick<Place<StoreSettings>, 'remove'> {
  readonly store: WholeStore;
  readonly tables: Kysely<Tables>;
  readonly names: readonly string[];
}

async function openEmptied(
  makePlace: () => Promise<Place<StoreSettings>>,
  now: () => number,
): Promise<Emptied> {
  const { where, remove } = await makePlace();
  const store = await openStore(where, { secretKey, log: quiet, now });
  const tables = await openTables(where);
  const all =
    where.kind === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`;
  const names = (await all.execute(tables)).rows.map(({ name }) => name);
  return { store, tables, remove, names: names.filter((name) => name !== 'migrations') };
}

async function emptyTables(tables: Kysely<Tables>, names: readonly string[]): Promise<void> {
  await tables.transaction().execute(async (transaction) => {
    for (const name of names) await sql`delete from ${sql.table(name)}`.execute(transaction);
  });
}

export const quiet: Logger = fakeHost().log;

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
