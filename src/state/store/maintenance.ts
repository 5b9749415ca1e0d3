import { existsSync } from 'node:fs';
import type { AuditLog } from './contract/audit.js';
import type { Logger } from '../../plugin/index.js';
import type { CredentialCipher } from './credential-cipher.js';
import type { StoreSettings } from './contract/settings.js';
import type { Schema } from './sql/tables/migrate.js';
import type { ServerState } from './sql/postgres/postgres-server.js';
import type { Resealed } from './sql/reseal.js';
import { StoreError } from './store-error.js';

export type { Resealed } from './sql/reseal.js';
export type { Schema } from './sql/tables/migrate.js';

/** A store opened beside the serving gateways, which leaves its tables unchanged. */
export interface MaintainedStore {
  schema(): Promise<Schema>;
  /** Reseals data that another key than the one in force has sealed. */
  reseal(cipher: CredentialCipher): Promise<Resealed>;
  /** Opens each sealed text; returns the number of texts by the key that opens them. */
  sealed(cipher: CredentialCipher): Promise<SealedCounts>;
  /** Number of values of each plugin that a key has sealed. */
  pluginValues(keyId: string): Promise<readonly { readonly space: string; readonly count: number }[]>;
  /** Audit log of a store with the tables of this version. */
  readonly audit: Pick<AuditLog, 'append'>;
  /** State of the database; undefined for a file. */
  server(): Promise<ServerState | undefined>;
  /** Time of the database, unix milliseconds; undefined for a file. */
  clockMs(): Promise<number | undefined>;
  close(): Promise<void>;
}

export interface SealedCounts {
  readonly current: number;
  readonly old: number;
  /** Messages about data that no key opens. */
  readonly problems: readonly string[];
}

interface MaintenanceOptions {
  readonly log: Logger;
  /** True if nothing is written, not even the files that SQLite makes beside its own. */
  readonly isReadOnly?: boolean;
}

/** Opens a store for maintenance. Throws a StoreError if there is none, or it cannot be reached. */
export async function openForMaintenance(
  settings: StoreSettings,
  options: MaintenanceOptions,
): Promise<MaintainedStore> {
  if (settings.kind === 'memory')
    throw new StoreError('The config has `store: memory`, which keeps nothing after the gateway ends.');
  const { kind } = settings;
  const db = await (kind === 'sqlite' ? sqlite(settings.file, options) : postgres(settings.url, options));
  const [{ schemaOf }, reseal, { sqlAuditLog }] = await Promise.all([
    import('./sql/tables/migrate.js'),
    import('./sql/reseal.js'),
    import('./sql/audit.js'),
  ]);
  return {
    schema: () => schemaOf(db, kind),
    reseal: (cipher) => reseal.resealTables(db, cipher),
    sealed: (cipher) => reseal.sealedCounts(db, cipher),
    pluginValues: (keyId) => reseal.pluginValuesSealedBy(db, keyId),
    audit: sqlAuditLog(db),
    async server() {
      if (kind === 'sqlite') return undefined;
      return (await import('./sql/postgres/postgres-server.js')).serverState(db);
    },
    async clockMs() {
      if (kind === 'sqlite') return undefined;
      return (await import('./sql/postgres/postgres-server.js')).serverClockMs(db);
    },
    close: () => db.destroy(),
  };
}

async function sqlite(file: string, { log, isReadOnly = false }: MaintenanceOptions) {
  if (!existsSync(file))
    throw new StoreError(`The SQLite file ${file} does not exist: the gateway has not run yet.`);
  const { openSqlite, readOnlySqlite } = await import('./sql/sqlite/sqlite.js');
  if (isReadOnly) return readOnlySqlite(file);
  const { startSqliteThread } = await import('./sql/sqlite/sqlite-thread.js');
  return openSqlite(startSqliteThread(file, log));
}

async function postgres(url: string, { log, isReadOnly = false }: MaintenanceOptions) {
  const { openPostgres } = await import('./sql/postgres/postgres.js');
  return (await openPostgres(url, log, { connections: 1, isReadOnly })).db;
}

/** Throws a StoreError with the reason if the tables are not those of this version. */
export async function requireCurrentSchema(store: MaintainedStore): Promise<void> {
  const { state, last, version } = await store.schema();
  if (state === 'current') return;
  const why = {
    empty: 'The store has no tables yet',
    older: `The store is of an older version of gw2api (its last step is "${last}")`,
    newer: `The store was written by a newer version of gw2api (${version ?? `it has "${last}"`})`,
  }[state];
  throw new StoreError(`${why}: run this command with the version that uses the store.`);
}
