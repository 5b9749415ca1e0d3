import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import type { DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from './kysely.js';

/**
 * Kysely over one libsql connection. Its queries are synchronous, so that waiting for the lock of another process is
 * left to a timer and not to SQLite, which would hold up every request meanwhile. Transactions take the lock at once.
 */
export class LibsqlDialect implements Dialect {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  createDriver(): Driver {
    return new LibsqlDriver(this.#file);
  }

  createQueryCompiler() {
    return new SqliteQueryCompiler();
  }

  createAdapter() {
    return new SqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db);
  }
}

class LibsqlDriver implements Driver {
  readonly #file: string;
  #connection: LibsqlConnection | undefined;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {
    const connection = new LibsqlConnection(new Database(this.#file, { timeout: 0 }));
    this.#connection = connection; // so that it is closed also where it is of no use
    for (const pragma of pragmas) await connection.executeQuery(CompiledQuery.raw(`pragma ${pragma}`));
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#connection) throw new Error('The SQLite file is not open.');
    if (this.#isTaken) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#isTaken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isTaken = false;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(begin);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(commit);
  }

  /** SQLite has rolled back by itself where the disk is full: what it says of that must not hide why. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection?.isInTransaction) await connection.executeQuery(rollback);
  }

  async destroy(): Promise<void> {
    this.#connection?.close();
  }
}

const begin = CompiledQuery.raw('begin immediate');
const commit = CompiledQuery.raw('commit');
const rollback = CompiledQuery.raw('rollback');

/** With a write-ahead log readers and the writer do not wait for each other, and a killed process loses nothing. */
const pragmas = ['journal_mode = wal', 'synchronous = normal', 'foreign_keys = on'] as const;

/** Runs a statement and gives how many rows it has changed. */
export type Run = (statement: Pick<CompiledQuery, 'sql' | 'parameters'>) => number;

export class LibsqlConnection implements DatabaseConnection {
  readonly #database: Database.Database;
  /** Least recently used first. To prepare one takes longer than most of them run. */
  readonly #prepared = new Map<string, Database.Statement>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  /** The same statement at each try: one that was busy counts as in progress until it has run, and forbids every commit. */
  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await unlessBusy(() => {
        const statement = this.#prepare(sql);
        if (statement.reader) return { rows: statement.all([...parameters]) as Row[] }; // the query's own type
        const { changes } = statement.run([...parameters]);
        return { rows: [], numAffectedRows: BigInt(changes) };
      });
    } catch (error) {
      this.#prepared.delete(sql); // it may still count as in progress
      throw error;
    }
  }

  /** Writes in one transaction and one turn, which is undone where `write` gives false, or throws. Gives what `write` does. */
  async transact(write: (run: Run) => boolean): Promise<boolean> {
    await this.executeQuery(begin);
    try {
      const isGood = write(this.#run);
      await this.executeQuery(isGood ? commit : rollback);
      return isGood;
    } catch (error) {
      if (this.isInTransaction) await this.executeQuery(rollback);
      throw error;
    }
  }

  readonly #run: Run = ({ sql, parameters }) => {
    try {
      return this.#prepare(sql).run(parameters).changes;
    } catch (error) {
      this.#prepared.delete(sql); // it may still count as in progress
      throw error;
    }
  };

  get isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  #prepare(sql: string): Database.Statement {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.delete(sql);
    this.#prepared.set(sql, statement);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > mostPrepared && oldest !== undefined) this.#prepared.delete(oldest);
    return statement;
  }

  streamQuery(): never {
    throw new Error('Queries are not streamed here: a page at a time holds up nobody.');
  }

  /** What stands in the log comes into the file: who copies that alone has all of it. */
  close(): void {
    try {
      this.#database.pragma('wal_checkpoint(truncate)');
    } catch {
      // A full disk, or no database at all: whatever is in the log is taken from there at the next start.
    }
    this.#database.close();
  }
}

/** Tries again while another connection holds the lock; throws what SQLite says when that takes too long. */
async function unlessBusy<Result>(query: () => Result): Promise<Result> {
  for (let waitedMs = 0; ; waitedMs += busyPauseMs) {
    try {
      return query();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= longestBusyMs) throw error;
      await delay(busyPauseMs);
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** More than the gateway has kinds of queries but for those of lists with filters. */
const mostPrepared = 50;

const busyPauseMs = 5;
const longestBusyMs = 5000;
