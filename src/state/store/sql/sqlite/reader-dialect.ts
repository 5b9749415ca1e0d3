import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { isBusy, SqliteConnection } from './connection.js';
import type { DatabaseOptions } from './database.js';
import { SqliteDialect, toQueryResult } from './thread-dialect.js';
import { lockTimeoutMs } from './sqlite-thread.js';

/**
 * Kysely over a read-only connection of this thread, for the short look-ups that a request waits for. Answers
 * while the other thread is busy.
 */
export class SqliteReaderDialect extends SqliteDialect {
  readonly #file: string;
  readonly #options: ReaderOptions;

  constructor(file: string, options: ReaderOptions = {}) {
    super();
    this.#file = file;
    this.#options = options;
  }

  createDriver(): Driver {
    return new SqliteReaderDriver(this.#file, this.#options);
  }
}

/** `isReadOnly`: the file system may refuse writes, and no file is created. */
type ReaderOptions = Pick<DatabaseOptions, 'isReadOnly' | 'isImmutable'>;

class SqliteReaderDriver implements Driver {
  readonly #file: string;
  readonly #options: ReaderOptions;
  #connection: ReaderConnection | undefined;

  constructor(file: string, options: ReaderOptions) {
    this.#file = file;
    this.#options = options;
  }

  async init(): Promise<void> {
    const connection = SqliteConnection.open(this.#file, ['query_only = on'], this.#options);
    this.#connection = new ReaderConnection(connection);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#connection) throw new Error('The SQLite file is not open.');
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    throw new Error('This connection is read-only and runs one statement at a time.');
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection?.close();
  }
}

class ReaderConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Runs a query; retries after a pause while another program holds an exclusive lock. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    for (const endMs = Date.now() + lockTimeoutMs; ;) {
      try {
        return toQueryResult(this.#connection.execute(query));
      } catch (error) {
        if (isBusy(error) && Date.now() < endMs) {
          await delay(pauseMs);
          continue;
        }
        this.#connection.forget(query.sql);
        throw error;
      }
    }
  }

  streamQuery(): never {
    throw new Error('Queries are not streamed: they read one page at a time.');
  }

  close(): void {
    this.#connection.close();
  }
}

const pauseMs = 10;
