import { setTimeout as delay } from 'node:timers/promises';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { isBusy, LibsqlConnection } from './libsql-connection.js';
import { SqliteDialect, toQueryResult } from './thread-dialect.js';
import { lockTimeoutMs } from './sqlite-thread.js';

/**
 * Kysely over a read-only connection of this thread, for the short look-ups that a request waits for. Answers
 * while the other thread is busy.
 */
export class SqliteReaderDialect extends SqliteDialect {
  readonly #file: string;
  readonly #isReadOnly: boolean;

  /** `isReadOnly`: the file system may refuse writes, and no file is made. */
  constructor(file: string, isReadOnly = false) {
    super();
    this.#file = file;
    this.#isReadOnly = isReadOnly;
  }

  createDriver(): Driver {
    return new SqliteReaderDriver(this.#file, this.#isReadOnly);
  }
}

class SqliteReaderDriver implements Driver {
  readonly #file: string;
  readonly #isReadOnly: boolean;
  #connection: ReaderConnection | undefined;

  constructor(file: string, isReadOnly: boolean) {
    this.#file = file;
    this.#isReadOnly = isReadOnly;
  }

  async init(): Promise<void> {
    const options = { isReadOnly: this.#isReadOnly };
    this.#connection = new ReaderConnection(LibsqlConnection.open(this.#file, ['query_only = on'], options));
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
  readonly #connection: LibsqlConnection;

  constructor(connection: LibsqlConnection) {
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
