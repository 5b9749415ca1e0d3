import { LRUCache } from 'lru-cache';
import type { Database, DatabaseOptions, PreparedStatement } from './database.js';
import { openDatabase } from './driver.js';

/** A statement and its bound values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Rows of a reading statement, or the number of rows that a writing one has changed. */
export interface Result {
  readonly rows: readonly unknown[];
  readonly changes?: number;
}

/**
 * One connection to a SQLite file, with its prepared statements. Calls are synchronous and never wait
 * for a lock.
 */
export class SqliteConnection {
  readonly #database: Database;
  /** Prepared statements: preparing one takes longer than running most of them. */
  readonly #prepared: LRUCache<string, PreparedStatement>;

  /** Sets `pragmas` one after another; `guard` runs each, and may wait for a lock. */
  static open(
    file: string,
    pragmas: readonly string[],
    { guard = (run) => run(), ...options }: ConnectionOptions = {},
  ): SqliteConnection {
    const connection = new SqliteConnection(openDatabase(file, options));
    try {
      for (const pragma of pragmas)
        guard(() => connection.execute({ sql: `pragma ${pragma}`, parameters: [] }));
      return connection;
    } catch (error) {
      connection.#database.close();
      throw error;
    }
  }

  private constructor(database: Database) {
    this.#database = database;
    this.#prepared = new LRUCache({ max: maxPrepared, memoMethod: (sql) => database.prepare(sql) });
  }

  get isInTransaction(): boolean {
    return this.#database.isInTransaction;
  }

  /**
   * Runs a statement. A busy one must be retried with the same text: it stays in progress until it has run,
   * and blocks every commit.
   */
  execute({ sql, parameters }: Statement): Result {
    try {
      const statement = this.#prepared.memo(sql);
      if (statement.isReading || isPragma(sql)) return { rows: statement.all(parameters) };
      return { rows: [], changes: statement.run(parameters) };
    } catch (error) {
      if (!isBusy(error)) this.#prepared.delete(sql); // it may still count as in progress
      throw error;
    }
  }

  /** Discards a busy statement that is not retried. */
  forget(sql: string): void {
    this.#prepared.delete(sql);
  }

  /** Copies the write-ahead log into the file, which is then complete on its own. */
  checkpoint(): void {
    try {
      this.#database.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // A full disk, another reader, or no database at all: the log stays, and is read at the next start.
    }
  }

  close(): void {
    this.#database.close();
  }
}

interface ConnectionOptions extends Pick<DatabaseOptions, 'isReadOnly' | 'isImmutable'> {
  readonly guard?: Guard;
}

type Guard = (run: () => unknown) => unknown;

/** True if another connection holds the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** True for a pragma: `run` takes only one step, in which `incremental_vacuum` frees a single page. */
function isPragma(sql: string): boolean {
  return sql.startsWith('pragma ');
}

/** Max cached statements: more than the kinds of queries, filtered lists aside. */
const maxPrepared = 50;
