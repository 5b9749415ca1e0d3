import { setImmediate as breath } from 'node:timers/promises';
import {
  systemClock,
  within,
  type AppendedRow,
  type Caches,
  type Clock,
  type Ledger,
  type Logger,
} from '../plugin/internal.js';
import type { Spool } from './spool.js';
import { UncountedRows } from './uncounted-rows.js';

export interface LedgerWriterOptions {
  readonly ledger: Pick<Ledger, 'append'>;
  /** Spool for rows while the store is down; without one, rows wait in memory and the oldest are dropped. */
  readonly spool?: Spool;
  readonly log: Logger;
  /** Timers of writes and retries; default: those of the machine. */
  readonly clock?: Clock;
  /** Timeout of a batch, after which its rows are spooled too. */
  readonly timeoutMs?: number;
  /** First backoff after a failure; it doubles up to half a minute. */
  readonly retryMs?: number;
}

/**
 * Batching queue that writes rows off the request path: every 250 ms, or at 500 rows. Rows that the store
 * does not take within a second go to the spool and later to the store; a duplicate counts once.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #timeoutMs: number;
  readonly #firstRetryMs: number;
  #queue: AppendedRow[] = [];
  readonly #uncounted = new UncountedRows();
  readonly #setTimer: Clock['setTimer'];
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #catchingUp: Promise<void> | undefined;
  #cancelCatchUp: (() => void) | undefined;
  #retryMs: number;
  #isDown = false;
  #isClosed = false;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    ({ setTimer: this.#setTimer } = options.clock ?? systemClock);
    this.#timeoutMs = options.timeoutMs ?? 1000;
    this.#firstRetryMs = this.#retryMs = options.retryMs ?? 500;
    this.#catchUpIn(0);
  }

  /** True while the store does not take rows. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Number of rows that are not in the store yet. */
  get waiting(): number {
    return this.#uncounted.size + this.#queue.length + (this.#options.spool?.waiting ?? 0);
  }

  get caches(): Caches {
    return { ledger_rows_in_memory: () => ({ entries: this.#queue.length, capacity: maxWaiting }) };
  }

  /** Writes a row; with `counted`, once that has settled, or after some seconds. */
  write(row: AppendedRow, counted?: Promise<unknown>): void {
    if (counted) this.#uncounted.hold(row, counted, (held) => this.#add(held));
    else this.#add(row);
  }

  #add(row: AppendedRow): void {
    this.#queue.push(row);
    if (this.#queue.length > maxWaiting) this.#lose(maxPending);
    if (this.#queue.length >= maxPending) void this.#start();
    else this.#cancelTimer ??= this.#setTimer(() => void this.#start(), flushMs);
  }

  /** Resolves when all rows are in the store or in the spool, if these take them. */
  async flush(): Promise<void> {
    await this.#uncounted.mostlyWritten();
    await this.#writing;
    await this.#start();
  }

  /** Writes the remaining rows and stops draining the spool. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelCatchUp?.();
    await this.#uncounted.written();
    await this.flush();
    await this.#catchingUp;
    if (this.#queue.length > 0)
      this.#options.log.error({ rows: this.#queue.length }, 'Ledger rows are lost.');
  }

  #start(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchRows);
      if (!(await this.#placed(batch))) {
        this.#keep(batch);
        return;
      }
      await breath(); // SQLite writes synchronously
    }
  }

  async #placed(batch: readonly AppendedRow[]): Promise<boolean> {
    return (!this.#isDown && (await this.#appended(batch))) || this.#spooled(batch);
  }

  /** Appends a batch; at the timeout it counts as failed. If it succeeds later, its rows still count once. */
  async #appended(batch: readonly AppendedRow[]): Promise<boolean> {
    try {
      const silence = `The store has not answered within ${this.#timeoutMs} ms.`;
      await within(this.#options.ledger.append(batch), this.#timeoutMs, silence);
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'The ledger cannot be written; its rows are queued.');
      this.#isDown = true;
      this.#catchUpIn(this.#retryMs);
      return false;
    }
  }

  async #spooled(batch: readonly AppendedRow[]): Promise<boolean> {
    const { spool, log } = this.#options;
    if (!spool) return false;
    try {
      await spool.add(batch);
      if (!this.#isDown) this.#catchUpIn(this.#firstRetryMs); // the store is back, but lacks these rows
      return true;
    } catch (error) {
      log.error(
        { err: error },
        'The ledger spool cannot be written; rows are queued in memory. Check the folder of ledger.spool.',
      );
      return false;
    }
  }

  #keep(batch: readonly AppendedRow[]): void {
    this.#queue = [...batch, ...this.#queue];
    const lost = this.#queue.length - maxWaiting;
    if (lost > 0) this.#lose(lost);
  }

  #lose(rows: number): void {
    this.#queue.splice(0, rows);
    this.#options.log.error({ rows }, 'Ledger rows are lost: neither the store nor the spool accepts them.');
  }

  #catchUpIn(ms: number): void {
    this.#cancelCatchUp?.();
    if (this.#isClosed) return;
    this.#cancelCatchUp = this.#setTimer(() => {
      this.#catchingUp ??= this.#catchUp().finally(() => {
        this.#catchingUp = undefined;
      });
    }, ms);
  }

  /** Drains the spool to the store. New rows bypass the spool again once it is empty. */
  async #catchUp(): Promise<void> {
    const { ledger, spool, log } = this.#options;
    try {
      const take = async (batch: readonly AppendedRow[]) => {
        if (this.#isClosed) throw new Error('The writer was closed.');
        await ledger.append(batch);
      };
      const waited = (await spool?.drain(take)) ?? 0;
      this.#isDown = false;
      // Second drain, for rows spooled during the end of the first.
      const rows = waited + ((await spool?.drain(take)) ?? 0);
      if (rows > 0) log.info({ rows }, 'The ledger has written all queued rows.');
      this.#retryMs = this.#firstRetryMs;
      if (this.#queue.length > 0) void this.#start();
      const isWhole = !this.#isDown && !spool?.waiting; // else rows were spooled during the drain
      this.#catchUpIn(isWhole ? rescanMs : this.#firstRetryMs);
    } catch (error) {
      if (this.#isClosed) return;
      if (!this.#isDown) log.warn({ err: error }, 'The spooled ledger rows cannot be written to the store.');
      this.#isDown = true;
      this.#catchUpIn(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
    }
  }
}

const flushMs = 250;
const maxPending = 500;

/** Max rows per write: SQLite blocks for some milliseconds for each. */
const batchRows = 250;
const maxWaiting = 50_000;
const maxRetryMs = 30_000;

/** Interval of the scan for spools of processes that have ended. */
const rescanMs = 60_000;
