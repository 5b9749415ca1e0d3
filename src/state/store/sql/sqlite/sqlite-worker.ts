import { parentPort, workerData } from 'node:worker_threads';
import { isBusy, SqliteConnection, type Result, type Statement } from './connection.js';
import type {
  ThreadModule,
  ThreadOptions,
  ThreadReply,
  ThreadRequest,
  WriteBatch,
} from './sqlite-messages.js';

/**
 * Runs the statements of one SQLite file in order. While a transaction is open, the requests of other
 * connections are queued.
 */
class StatementRunner {
  readonly #options: ThreadOptions;
  readonly #reply: (reply: ThreadReply) => void;
  #connection: SqliteConnection | undefined;
  readonly #waiting: ThreadRequest[] = [];
  /** The connection whose transaction is open. */
  #owner: number | undefined;
  /** True after a lock timeout: the next statements wait only briefly for the lock. */
  #isLocked = false;
  /** True if a busy statement of the connection was aborted. */
  #hasAbandoned = false;

  constructor(options: ThreadOptions, reply: (reply: ThreadReply) => void) {
    this.#options = options;
    this.#reply = reply;
  }

  take(request: ThreadRequest): void {
    this.#waiting.push(request);
    for (let next = this.#next(); next; next = this.#next()) this.#reply(this.#answer(next));
  }

  #next(): ThreadRequest | undefined {
    if (this.#owner === undefined) return this.#waiting.shift();
    const at = this.#waiting.findIndex(({ connection }) => connection === this.#owner);
    return at === -1 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  #answer(request: ThreadRequest): ThreadReply {
    const { id } = request;
    try {
      return { id, result: this.#run(request) };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
      return { id, error: { message: error instanceof Error ? error.message : String(error), code } };
    }
  }

  #run(request: ThreadRequest): Result {
    switch (request.kind) {
      case 'query':
        return this.#execute(request);
      case 'begin':
        this.#execute(begin);
        this.#owner = request.connection;
        return nothing;
      case 'commit':
        return this.#endTransaction(commit);
      case 'rollback':
        return this.#endTransaction(rollback);
      case 'write':
        return this.#write(JSON.parse(request.text) as WriteBatch); // as the main thread wrote it
      case 'close':
        return this.#close();
    }
  }

  /** Ends a transaction, unless SQLite has already rolled back because the disk is full. */
  #endTransaction(statement: Statement): Result {
    const isOpen = this.#open().isInTransaction;
    if (isOpen || statement !== rollback) this.#execute(statement);
    this.#owner = undefined;
    return nothing;
  }

  #write({ checked, changes, rest }: WriteBatch): Result {
    this.#execute(begin);
    try {
      const changed = checked.reduce((sum, statement) => sum + (this.#execute(statement).changes ?? 0), 0);
      const isComplete = changed === changes;
      if (isComplete) for (const statement of rest) this.#execute(statement);
      this.#execute(isComplete ? commit : rollback);
      return { rows: [], changes: isComplete ? changed : 0 };
    } catch (error) {
      if (this.#open().isInTransaction) this.#execute(rollback);
      throw error;
    }
  }

  #execute(statement: Statement): Result {
    const connection = this.#open();
    try {
      const result = this.#untilFree(() => connection.execute(statement));
      if (result.changes !== undefined) this.#isLocked = false;
      return result;
    } catch (error) {
      if (isBusy(error)) this.#hasAbandoned = true;
      throw error;
    }
  }

  /**
   * Opened by the first statement, which reports any failure to open; and again after an abandoned one, which stays in
   * progress: writes beside it are never committed, and are lost when it is collected.
   */
  #open(): SqliteConnection {
    const before = this.#connection;
    if (before && !(this.#hasAbandoned && !before.isInTransaction)) return before;
    before?.close();
    this.#connection = undefined;
    const guard = <Value>(run: () => Value) => this.#untilFree(run);
    const pragmas = before ? connectionPragmas : [...filePragmas, ...connectionPragmas];
    this.#connection = SqliteConnection.open(this.#options.file, pragmas, { guard });
    this.#hasAbandoned = false;
    return this.#connection;
  }

  #untilFree<Value>(run: () => Value): Value {
    const endMs = Date.now() + (this.#isLocked ? lockedTimeoutMs : this.#options.lockTimeoutMs);
    for (;;) {
      try {
        return run();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (Date.now() >= endMs) {
          this.#isLocked = true;
          throw error;
        }
        Atomics.wait(sleeper, 0, 0, pauseMs);
      }
    }
  }

  #close(): Result {
    this.#connection?.checkpoint();
    this.#connection?.close();
    this.#connection = undefined;
    parentPort?.close();
    return nothing;
  }
}

const nothing: Result = { rows: [] };

const begin: Statement = { sql: 'begin immediate', parameters: [] };
const commit: Statement = { sql: 'commit', parameters: [] };
const rollback: Statement = { sql: 'rollback', parameters: [] };

/**
 * Pragmas: with a write-ahead log readers and the writer do not block each other, and a killed process loses
 * nothing. The vacuum mode must be set before the first write to a new file.
 */
const filePragmas = ['auto_vacuum = incremental', 'journal_mode = wal'] as const;
const connectionPragmas = ['synchronous = normal', 'foreign_keys = on'] as const;

/** Time that a statement waits for a lock after the one before it did not get it. */
const lockedTimeoutMs = 50;
const pauseMs = 5;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const runner = new StatementRunner(
  workerData as ThreadOptions, // as SqliteThread passes it
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  (reply) => parentPort?.postMessage(reply),
);
parentPort?.on('message', (request: ThreadRequest | ThreadModule) => {
  if ('url' in request) void runModule(request);
  else runner.take(request);
});

async function runModule({ url, data }: ThreadModule): Promise<void> {
  const { begin } = (await import(url)) as { readonly begin: (given: unknown) => void };
  begin(data);
}
