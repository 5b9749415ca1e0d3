import type { Kysely } from 'kysely';
import type { Logger } from '../../../plugin/index.js';
import type { WholeStore } from '../contract/store.js';
import { resilientStore } from '../outage/resilient-store.js';
import { unavailable } from '../outage/unavailable.js';
import type { CredentialCipher } from '../credential-cipher.js';
import { sqlAdminTokens } from './admin-tokens.js';
import { sqlAuditLog } from './audit.js';
import { sqlErrorTexts } from './ledger/error-texts.js';
import { sqlBindings } from './expiring.js';
import { sqlKeys } from './keys.js';
import { sqlLedger } from './ledger/ledger.js';
import { prepareDatabase, whenReady } from './postgres/start-postgres.js';
import { sqlResponses } from './responses.js';
import { sqlCredentials, sqlSlots } from './secrets.js';
import { sqlSpaces } from './spaces.js';
import { sqlSessions } from './sessions.js';
import { sqlTeams } from './teams.js';
import { sqlSlotHistory } from './slot-history.js';
import { sqlSlotStates } from './slot-states.js';
import {
  isSqliteFailure,
  migrateSqlite,
  openSqlite,
  openSqliteReader,
  reclaimPages,
} from './sqlite/sqlite.js';
import type { StoreSettings } from '../contract/settings.js';
import type { SqliteThread } from './sqlite/sqlite-thread.js';
import { sumPairs } from './ledger/pairs/sum-pairs.js';
import type { Tables } from './tables/tables.js';

interface SqlStoreOptions {
  readonly cipher: CredentialCipher;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Store in a SQLite file: a separate thread writes and searches, and the look-ups of requests are read here.
 * Throws a StoreError if the file cannot be opened.
 */
export async function openSqliteStore(thread: SqliteThread, options: SqlStoreOptions): Promise<WholeStore> {
  const { file } = thread;
  const db = await openSqlite(thread, options.log);
  await destroyedOnError(db, () => migrateSqlite(db, file, options.log));
  const store = storeOver(db, 'sqlite', options);
  const reader = openSqliteReader(file);
  const [keys, bindings] = [sqlKeys(reader, options.now), sqlBindings(reader, options.now)];
  const teams = sqlTeams(reader, options.now);
  const spaces = sqlSpaces(reader, options.now);
  const adminTokens = sqlAdminTokens(reader);
  return unavailable(
    {
      ...store,
      keys: { ...store.keys, findByHash: (hash) => keys.findByHash(hash) },
      adminTokens: { ...store.adminTokens, findByHash: (hash) => adminTokens.findByHash(hash) },
      teams: { ...store.teams, get: (id) => teams.get(id) },
      bindings: { ...store.bindings, get: (stickyKey) => bindings.get(stickyKey) },
      spaces: { ...store.spaces, get: (space, key) => spaces.get(space, key) },
      reclaim: (pages) => reclaimPages(db, pages),
      caches: { sqlite_statements: () => thread.fill },
      runModule: (url, data) => thread.runModule({ url, data }),
      async close() {
        await reader.destroy(); // first: the thread checkpoints the log once there is no reader
        await store.close();
      },
    },
    isSqliteFailure,
  );
}

/**
 * A store in PostgreSQL, whose driver is loaded with it. Waits for a server that is still starting; throws a StoreError
 * if it cannot be used, or not in time.
 */
export async function openPostgresStore(
  { url, pool }: Extract<StoreSettings, { kind: 'postgres' }>,
  options: SqlStoreOptions & { readonly waitMs: number },
): Promise<WholeStore> {
  const { isUnavailable, isFailure, nameOf, openPostgres, openForMigration } =
    await import('./postgres/postgres.js');
  const { log, waitMs } = options;
  const name = nameOf(url);
  const { db, searches, placed, ...server } = await whenReady({ name, log, waitMs }, async () => {
    await prepareDatabase(() => openForMigration(url, log), { name, log });
    return openPostgres(url, log, pool === undefined ? {} : { connections: pool });
  });
  return unavailable(
    resilientStore(
      { ...storeOver(db, 'postgres', options), ...searched(storeOver(searches, 'postgres', options)) },
      storeOver(placed, 'postgres', options),
      { ...options, ...server, name, isUnavailable },
    ),
    isFailure,
  );
}

/** Parts of a store for searches and sums, mostly by the console. */
function searched({ ledger, errorTexts, audit, slotHistory, sumPairs }: WholeStore): Partial<WholeStore> {
  return { ledger, errorTexts, audit, slotHistory, ...(sumPairs && { sumPairs }) };
}

function storeOver(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  { cipher, log, now }: SqlStoreOptions,
): WholeStore {
  return {
    isDown: false,
    keys: sqlKeys(db, now),
    teams: sqlTeams(db, now),
    credentials: sqlCredentials(db, cipher),
    slots: sqlSlots(db, cipher),
    slotStates: sqlSlotStates(db, dialect, now),
    slotHistory: sqlSlotHistory(db),
    sessions: sqlSessions(db, dialect, now),
    bindings: sqlBindings(db, now),
    responses: sqlResponses(db, now),
    ledger: sqlLedger(db, dialect, log),
    errorTexts: sqlErrorTexts(db),
    audit: sqlAuditLog(db),
    adminTokens: sqlAdminTokens(db),
    spaces: sqlSpaces(db, now),
    sumPairs: (beforeMs, limit) => sumPairs(db, dialect, { beforeMs, limit }),
    close: () => db.destroy(),
  };
}

async function destroyedOnError(db: Kysely<Tables>, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
