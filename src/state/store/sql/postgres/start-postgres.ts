import type { Kysely } from 'kysely';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../../plugin/index.js';
import { StoreError } from '../../store-error.js';
import { migratePostgres } from './migrate-postgres.js';
import { schemaOf } from '../tables/migrate.js';
import { migrations } from '../tables/migrations.js';
import { cannotUse, isOfServer, isTemporary } from './postgres-faults.js';
import { readableState, serverFindings, serverState } from './postgres-server.js';
import type { Tables } from '../tables/tables.js';

interface Starting {
  /** "PostgreSQL at HOST". */
  readonly name: string;
  readonly log: Logger;
}

/**
 * Runs `open` until the server is available: while it starts, refuses connections or is not found, for `waitMs` at
 * most, with a log line each time. Throws a StoreError for any other answer of the server.
 */
export async function whenReady<Opened>(
  { name, log, waitMs }: Starting & { readonly waitMs: number },
  open: () => Promise<Opened>,
): Promise<Opened> {
  const startedMs = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      return await open();
    } catch (error) {
      const cause = error instanceof StoreError ? error.cause : error;
      const leftMs = startedMs + waitMs - performance.now();
      if (!isTemporary(cause) || leftMs <= 0)
        throw error instanceof StoreError || !isOfServer(error) ? error : cannotUse(name, error);
      const left = `trying again, for ${Math.ceil(leftMs / 1000)} s at most`;
      const { message: problem } = error instanceof StoreError ? error : cannotUse(name, error);
      log.warn({ problem }, `The store is not ready; ${left}.`);
      await delay(Math.min(pauseMs, leftMs));
    }
  }
}

const firstPauseMs = 500;
const maxPauseMs = 5000;

/** Checks the database for the requirements of a gateway, and migrates its tables, by a separate connection. */
export async function prepareDatabase(
  connect: () => Promise<Kysely<Tables>>,
  { name, log }: Starting,
): Promise<void> {
  const db = await connect();
  try {
    const server = await serverState(db);
    const state = await readableState(server, () => schemaOf(db, 'postgres'));
    const { problem, warning } = serverFindings(server, state);
    if (problem !== undefined) throw new StoreError(`${name} ${problem}.`);
    if (warning !== undefined) log.warn({}, `${name} ${warning}.`);
    // Tables of this version need no right to make any; those of a newer one are refused by the migration.
    if (state !== 'current') await migratePostgres(db, migrations, log);
  } finally {
    await db.destroy();
  }
}
