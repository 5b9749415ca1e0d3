import { existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeFolder, type Logger } from '../../../../plugin/index.js';
import { Kysely, sql } from 'kysely';
import { isOutdated, migrate } from '../tables/migrate.js';
import { SqliteReaderDialect } from './reader-dialect.js';
import { cannotOpen, codeOf, isLocked, NoFileError } from './sqlite-errors.js';
import type { SqliteThread } from './sqlite-thread.js';
import type { Tables } from '../tables/tables.js';
import { SqliteThreadDialect } from './thread-dialect.js';
import { stepResult, type StepResult } from '../../../step-result.js';

/**
 * Opens the file of a thread; creates it and its folder if missing. With a log a lock of another program is waited for;
 * on failure the thread ends, with a StoreError.
 */
export async function openSqlite(thread: SqliteThread, log?: Logger): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: new SqliteThreadDialect(thread) });
  try {
    await makeFile(thread.file);
    // The first connection opens the file.
    const open = (): Promise<void> => db.connection().execute(async () => undefined);
    await (log ? untilFree(open, { file: thread.file, log, maxMs: async () => maxLockedMs }) : open());
    return db;
  } catch (error) {
    await thread.close();
    throw cannotOpen(thread.file, error);
  }
}

/** A connection of this thread to a file that is open, for look-ups alone. */
export function openSqliteReader(file: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteReaderDialect(file) });
}

/**
 * A read-only connection of this thread. A file without a log beside it is complete, and is read without the files that
 * readers of a log need.
 */
export function readOnlySqlite(file: string): Kysely<Tables> {
  const isImmutable = !existsSync(`${file}-wal`);
  return new Kysely<Tables>({ dialect: new SqliteReaderDialect(file, { isReadOnly: true, isImmutable }) });
}

/**
 * Creates the folder and the file with access for the operator alone, as stored responses are private. SQLite
 * gives its log the same mode.
 */
async function makeFile(file: string): Promise<void> {
  await makeFolder(path.dirname(file), 0o700);
  // One that is there is not opened: closing it would drop the locks that SQLite holds for this process.
  const made = await open(file, 'wx', 0o600).catch(noneIfThere);
  if (made) return made.close();
  const found = await stat(file);
  if (!found.isFile()) throw new NoFileError({ isFolder: found.isDirectory() });
}

function noneIfThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}

/**
 * Migrates the tables. Fails soon if another program holds the lock; waits longer for an outdated file, as
 * another instance may be migrating it.
 */
export async function migrateSqlite(db: Kysely<Tables>, file: string, log: Logger): Promise<void> {
  const maxMs = async (): Promise<number> => ((await isOutdated(db)) ? maxMigrationMs : maxLockedMs);
  try {
    await untilFree(() => migrate(db, 'sqlite'), { file, log, maxMs });
  } catch (error) {
    throw isSqliteFailure(error) ? cannotOpen(file, error) : error;
  }
}

interface LockWait {
  readonly file: string;
  readonly log: Logger;
  /** Timeout for the lock. */
  readonly maxMs: () => Promise<number>;
}

/**
 * Runs until no other program holds the lock of the file, or until the timeout, at which it throws the last error.
 */
async function untilFree(run: () => Promise<void>, { file, log, maxMs }: LockWait): Promise<void> {
  const startedMs = performance.now();
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await run();
    } catch (error) {
      if (!isLocked(error) || performance.now() - startedMs >= (await maxMs())) throw error;
      if (!isLogged)
        log.warn({ file }, 'The SQLite file is locked by another process; waiting for the lock.');
      await delay(lockedPauseMs);
    }
  }
}

/** Max wait, longer than another program's writes take, and reported in the log. */
const maxLockedMs = 10_000;
const maxMigrationMs = 60_000;
const lockedPauseMs = 50;

/**
 * Returns up to `pages` free pages to the file system, if the file has a vacuum mode for that.
 */
export async function reclaimPages(db: Kysely<Tables>, pages: number): Promise<StepResult> {
  const { rows } = await sql`pragma incremental_vacuum(${sql.lit(pages)})`.execute(db);
  return stepResult(rows.length, pages); // one row for each page
}

/** True for a failure of the file, rather than of a statement or its values. */
export function isSqliteFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code?.startsWith('SQLITE_') === true && !isOfStatement.test(code);
}

const isOfStatement = /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG|MISUSE)/;
