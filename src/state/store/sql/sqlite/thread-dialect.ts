import type { Worker } from 'node:worker_threads';
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type Dialect,
  type Kysely,
  type QueryCompiler,
} from 'kysely';
import type { Result } from './connection.js';
import type { ThreadWork, WriteBatch } from './sqlite-messages.js';
import type { SqliteThread } from './sqlite-thread.js';

/** SQLite's dialect without the driver. */
export abstract class SqliteDialect implements Dialect {
  abstract createDriver(): Driver;

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter() {
    return new SqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db);
  }
}

/** Kysely over the thread of a SQLite file, which it closes with itself. */
export class SqliteThreadDialect extends SqliteDialect {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    super();
    this.#thread = thread;
  }

  createDriver(): Driver {
    return new SqliteThreadDriver(this.#thread);
  }
}

class SqliteThreadDriver implements Driver {
  readonly #thread: SqliteThread;
  #lastConnection = 0;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  /** Fails with the error that keeps the file from being opened. */
  async init(): Promise<void> {
    await this.#thread.run({ kind: 'query', sql: 'select 1', parameters: [] }, 0);
  }

  async acquireConnection(): Promise<ThreadConnection> {
    return new ThreadConnection(this.#thread, (this.#lastConnection += 1));
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(connection: ThreadConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: ThreadConnection): Promise<void> {
    await connection.end('commit');
  }

  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.end('rollback');
  }

  async destroy(): Promise<void> {
    await this.#thread.close();
  }
}

/** One user of the thread; its number separates its transaction from the statements of others. */
export class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;
  readonly #number: number;
  /** The worker that its transaction is open in. */
  #worker: Worker | undefined;

  constructor(thread: SqliteThread, number: number) {
    this.#thread = thread;
    this.#number = number;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return toQueryResult(await this.#run({ kind: 'query', sql, parameters }));
  }

  /**
   * Writes a batch in one transaction. Returns false if it was rolled back for an unexpected number of
   * changes.
   */
  async write(batch: WriteBatch): Promise<boolean> {
    const { changes } = await this.#run({ kind: 'write', text: JSON.stringify(batch) });
    return changes === batch.changes;
  }

  async begin(): Promise<void> {
    const begun = this.#run({ kind: 'begin' });
    const { worker } = this.#thread;
    await begun;
    this.#worker = worker;
  }

  async end(kind: 'commit' | 'rollback'): Promise<void> {
    const worker = this.#worker;
    const hasEnded = worker !== this.#thread.worker; // which also ends the transaction
    if (kind === 'commit' || !hasEnded) await this.#thread.run({ kind }, this.#number, worker);
    this.#worker = undefined; // only now: a failed commit is followed by a rollback
  }

  streamQuery(): never {
    throw new Error('Queries are not streamed: they read one page at a time.');
  }

  #run(work: ThreadWork): Promise<Result> {
    return this.#thread.run(work, this.#number, this.#worker);
  }
}

export function toQueryResult<Row>({ rows, changes }: Result): QueryResult<Row> {
  const read = { rows: rows as Row[] }; // the query's own type
  return changes === undefined ? read : { ...read, numAffectedRows: BigInt(changes) };
}
