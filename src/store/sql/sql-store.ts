import type { Kysely } from 'kysely';
import type { Logger, Store } from '../../plugin/index.js';
import { guardedStore } from '../guarded-store.js';
import type { Vault } from '../vault.js';
import { sqlBindings, sqlSessions } from './expiring.js';
import { sqlKeys } from './keys.js';
import { sqlLedger } from './ledger.js';
import { migrate } from './migrate.js';
import { sqlResponses } from './responses.js';
import { sqlCredentials, sqlSlots } from './secrets.js';
import type { Tables } from './tables.js';
import { sql } from './kysely.js';

export interface SqlStoreOptions {
  readonly vault: Vault;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A store in a SQLite file, whose driver is loaded with it. Throws a StoreError where it cannot be opened. */
export async function openSqliteStore(file: string, options: SqlStoreOptions): Promise<Store> {
  const { openSqlite } = await import('./sqlite.js');
  return prepared(await openSqlite(file), 'sqlite', options);
}

/** A store in PostgreSQL, whose driver is loaded with it. Throws a StoreError where it cannot be reached. */
export async function openPostgresStore(url: string, options: SqlStoreOptions): Promise<Store> {
  const { isAbsence, openPostgres } = await import('./postgres.js');
  const { db, host, hangUp } = await openPostgres(url, options.log);
  const store = await prepared(db, 'postgres', options);
  const probe = () => sql`select 1`.execute(db);
  return guardedStore(store, { ...options, name: `PostgreSQL at ${host}`, probe, isAbsence, hangUp });
}

async function prepared(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  { vault, now }: SqlStoreOptions,
): Promise<Store> {
  try {
    await migrate(db, dialect);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    isAway: false,
    keys: sqlKeys(db),
    credentials: sqlCredentials(db, vault),
    slots: sqlSlots(db, vault),
    sessions: sqlSessions(db, now),
    bindings: sqlBindings(db, now),
    responses: sqlResponses(db, now),
    ledger: sqlLedger(db, dialect),
    close: () => db.destroy(),
  };
}
