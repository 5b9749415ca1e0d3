import { Kysely, PostgresDialect } from 'kysely';
import { Pool, types, TypeOverrides } from 'pg';
import type { Logger } from '../../plugin/index.js';
import { StoreError } from '../store-error.js';
import type { Tables } from './tables.js';

/** Connects to PostgreSQL. Throws a StoreError where it cannot be reached; later failures are the queries' own. */
export async function openPostgres(url: string, log: Logger): Promise<Kysely<Tables>> {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    types: plainNumbers(),
  });
  // An idle connection that breaks is replaced by the next query; unheard, its error would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'A connection to PostgreSQL broke.'));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await db
    .connection()
    .execute(async () => undefined)
    .catch(async (error: unknown) => {
      await db.destroy();
      throw cannotConnect(url, error);
    });
  return db;
}

const connectTimeoutMs = 2000;
const queryTimeoutMs = 5000;

/** int8 and numeric come as text, since they may not fit a number; ours are times and counts, which do. */
function plainNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) overrides.setTypeParser(type, Number);
  return overrides;
}

function cannotConnect(url: string, cause: unknown): StoreError {
  const host = URL.canParse(url) ? new URL(url).host : 'the given address';
  const why =
    cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : String(cause);
  return new StoreError(`PostgreSQL at ${host} cannot be used (${why}).`, { cause });
}
