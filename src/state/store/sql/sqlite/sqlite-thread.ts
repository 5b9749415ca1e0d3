import { Worker } from 'node:worker_threads';
import { programUrl } from '../../../../kit/package-files.js';
import { within } from '../../../../kit/time/within.js';
import type { CacheStats } from '../../../../plugin/core.js';
import type { Logger } from '../../../../plugin/index.js';
import type { Result } from './connection.js';
import { SqliteError } from './database.js';
import type {
  ThreadModule,
  ThreadOptions,
  ThreadReply,
  ThreadRequest,
  ThreadWork,
} from './sqlite-messages.js';

interface SqliteThreadOptions {
  readonly file: string;
  /** Called when the thread ends on its own; the next statement starts another one. */
  readonly onLost: (error: Error) => void;
}

interface Pending {
  readonly size: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** The thread of a SQLite file, which opens it at the first statement. */
export function startSqliteThread(file: string, log?: Logger): SqliteThread {
  const onLost = (err: Error) =>
    log?.error({ err, file }, 'The SQLite thread has exited; the next statement restarts it.');
  return new SqliteThread({ file, onLost });
}

/**
 * Worker thread for the statements of a SQLite file, with a bounded queue. If it dies, its pending statements
 * fail and the next one starts a new thread.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  #worker: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  #pendingSize = 0;
  #lastId = 0;
  #module: ThreadModule | undefined;
  #isClosed = false;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
    this.#worker = this.#start();
  }

  /** The worker that a transaction began in; no later one has it. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  get file(): string {
    return this.#options.file;
  }

  /** Statements that wait for their answer. */
  get fill(): CacheStats {
    return { entries: this.#pending.size, capacity: maxPending };
  }

  /**
   * Runs one piece of work; rejects if `worker`, which holds its open transaction, has been replaced.
   * Statements of an open transaction are exempt from the queue limits: others may be waiting for its end.
   */
  async run(work: ThreadWork, connection: number, worker?: Worker): Promise<Result> {
    if (this.#isClosed) throw new SqliteError('The SQLite file is closed.', 'SQLITE_MISUSE');
    if (worker && worker !== this.#worker) throw lost();
    const size = sizeOf(work);
    const isFull = this.#pending.size >= maxPending || this.#pendingSize + size > maxPendingSize;
    if (isFull && !worker)
      throw new SqliteError('Too many statements are waiting for the SQLite file.', 'SQLITE_THREAD_FULL');
    return this.#ask(work, connection, size);
  }

  /** Runs a module beside the statements, also in the thread that replaces a lost one. */
  runModule(module: ThreadModule): void {
    this.#module = module;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker?.postMessage(module);
  }

  /** Drains the queue and ends the thread. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const worker = this.#worker;
    if (!worker) return;
    worker.ref();
    const closed = this.#ask({ kind: 'close' }, 0, 0);
    await within(closed, closeTimeoutMs, 'The SQLite file is still in use.').catch(() => undefined); // terminated anyway
    await worker.terminate();
  }

  #ask(work: ThreadWork, connection: number, size: number): Promise<Result> {
    const worker = (this.#worker ??= this.#start());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { size, resolve, reject });
      this.#pendingSize += size;
      if (this.#pending.size === 1) worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id, connection, ...work } satisfies ThreadRequest);
    });
  }

  #start(): Worker {
    const { file, onLost } = this.#options;
    const workerData: ThreadOptions = { file, lockTimeoutMs };
    const worker = new Worker(programUrl('state/store/sql/sqlite/sqlite-worker.js'), {
      name: 'sqlite',
      execArgv: [], // without this process's own options, such as --input-type
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: maxYoungHeapMb },
    });
    let failure: Error | undefined;
    worker.on('message', (reply: ThreadReply) => this.#settle(reply));
    worker.on('error', (error: Error) => void (failure = error));
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#rejectAll(failure);
      if (!this.#isClosed) onLost(failure ?? lost());
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    if (this.#module) worker.postMessage(this.#module);
    worker.unref(); // keeps the process alive only while a query is pending
    return worker;
  }

  #settle(reply: ThreadReply): void {
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    this.#pending.delete(reply.id);
    this.#pendingSize -= pending.size;
    if (this.#pending.size === 0 && !this.#isClosed) this.#worker?.unref();
    if ('result' in reply) pending.resolve(reply.result);
    else pending.reject(new SqliteError(reply.error.message, reply.error.code));
  }

  #rejectAll(cause: Error | undefined): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    this.#pendingSize = 0;
    for (const { reject } of all) reject(lost(cause));
  }
}

function lost(cause?: Error): SqliteError {
  return new SqliteError('The SQLite thread ended.', 'SQLITE_THREAD_ENDED', cause && { cause });
}

/** Approximate size of the work, in characters. */
function sizeOf(work: ThreadWork): number {
  if (work.kind === 'write') return work.text.length;
  if (work.kind !== 'query') return 0;
  return work.parameters.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    work.sql.length,
  );
}

/** Lock timeout: two statements of one request must end within two seconds if the file is locked. */
export const lockTimeoutMs = 900;

/** A transaction that is never ended would keep the file open. */
const closeTimeoutMs = 5000;

const maxPending = 10_000;
const maxPendingSize = 256 * 2 ** 20;
const maxHeapMb = 512;
const maxYoungHeapMb = 16;
