import { sql, type Kysely, type Transaction } from 'kysely';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../../plugin/index.js';
import { apply, missingIn } from '../ledger/migration-steps.js';
import type { Migration } from '../tables/migrations.js';
import type { Tables } from '../tables/tables.js';

/**
 * Migrates the tables of PostgreSQL, each step in a separate transaction, and waits while other instances migrate or
 * hold locks on the tables, with a log line about them each 10 s. `db`: without a limit of its queries.
 */
export async function migratePostgres(
  db: Kysely<Tables>,
  known: readonly Migration[],
  log?: Pick<Logger, 'info'>,
): Promise<void> {
  let loggedAtMs = performance.now();
  for (;;) {
    const result = await tryNext(db, known);
    if (result === 'current') return;
    if (result === 'done') continue;
    if (performance.now() - loggedAtMs >= logEveryMs) {
      loggedAtMs = performance.now();
      log?.info({ waitsFor: await holdersOf(db) }, 'Waiting to migrate the tables of PostgreSQL.');
    }
    await delay(retryMs);
  }
}

/** Makes the next step; `busy`: another session has the lock of migrations, or a table for longer than 2 s. */
async function tryNext(
  db: Kysely<Tables>,
  known: readonly Migration[],
): Promise<'done' | 'current' | 'busy'> {
  try {
    return await db.transaction().execute(async (transaction) => {
      await sql`set local lock_timeout = ${sql.lit(lockTimeout)}`.execute(transaction);
      if (!(await takesLock(transaction))) return 'busy';
      const [next] = await missingIn(transaction, known);
      if (!next) return 'current';
      await apply(next, transaction, 'postgres');
      return 'done';
    });
  } catch (error) {
    if (isLockProblem(error)) return 'busy';
    throw error;
  }
}

async function takesLock(transaction: Transaction<Tables>): Promise<boolean> {
  const lock = sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(lockId)}) as taken`;
  return (await lock.execute(transaction)).rows[0]?.taken === true;
}

/** True for a lock timeout, and for a deadlock, which PostgreSQL has ended. */
function isLockProblem(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }; // fields of any value
  return code === '55P03' || code === '40P01';
}

/** Sessions that hold locks on tables of this schema, or the lock of migrations: process id, program and address. */
async function holdersOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ holder: string }>`
    select distinct concat_ws(' ', a.pid, nullif(a.application_name, ''), host(a.client_addr), a.usename) as holder
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    left join pg_class c on c.oid = l.relation
    where l.granted and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())
      and ((l.locktype = 'advisory' and l.objid = ${sql.lit(lockId)}) or c.relnamespace = current_schema()::regnamespace)
    limit ${sql.lit(maxHolders)}`.execute(db);
  return rows.map(({ holder }) => holder);
}

/** Max wait for the lock of a table: requests of the instances that serve queue behind it. */
const lockTimeout = '2s';
const retryMs = 500;
const logEveryMs = 10_000;
const maxHolders = 10;

/** Advisory lock id, unique on the database: "gw2api" on a telephone keypad. */
const lockId = 492274;
