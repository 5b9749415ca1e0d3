import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { systemClock, type Clock, type Logger } from '../../../plugin/index.js';
import type { Caches, LimitHolder } from '../../../plugin/core.js';
import { within } from '../../../kit/time/within.js';
import type { AppendedRow, Ledger } from '../contract.js';
import type { Spool } from '../spool/spool.js';
import { SpoolDrain } from '../spool/spool-drain.js';
import { UncountedRows } from './uncounted-rows.js';
import { bothWaiting, isAsked, WaitingSums, type WaitingQuery, type WaitingUse } from './waiting-sums.js';

export interface LedgerWriterOptions {
  readonly ledger: Pick<Ledger, 'append'>;
  /** Spool for rows while the store is down; without one, rows wait in memory and the oldest are dropped. */
  readonly spool?: Spool;
  readonly log: Logger;
  /** Called with the keys and teams of rows that another process had spooled, once they are in the store. */
  readonly onRecovered?: (holders: readonly LimitHolder[]) => Promise<void>;
  /** Timers of writes and retries; default: those of the machine. */
  readonly clock?: Clock;
  /** Timeout of a batch, after which its rows are spooled too. */
  readonly timeoutMs?: number;
  /** First backoff after a failure; it doubles up to a second. */
  readonly retryMs?: number;
}

/**
 * Batching queue that writes rows off the request path: every 250 ms, or at 500 rows. Rows that the store
 * does not take within a second go to the spool and later to the store; a duplicate counts once.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #timeoutMs: number;
  #queue: AppendedRow[] = [];
  readonly #uncounted = new UncountedRows();
  readonly #setTimer: Clock['setTimer'];
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  /** Rows that are being passed to the store or the spool. */
  #batch: readonly AppendedRow[] = [];
  /** Waiting rows that the store may have: they were sent without a known answer. */
  readonly #unconfirmed = new WeakSet<AppendedRow>();
  readonly #drain: SpoolDrain;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    const { ledger, spool, log, clock = systemClock, timeoutMs = 1000, retryMs = 500, onRecovered } = options;
    this.#setTimer = clock.setTimer;
    this.#timeoutMs = timeoutMs;
    const onUp = () => this.#queue.length > 0 && void this.#start();
    const { setTimer } = clock;
    this.#drain = new SpoolDrain({ ledger, spool, log, setTimer, retryMs, onUp, onRecovered });
  }

  /** True while the store does not accept rows. */
  get isDown(): boolean {
    return this.#drain.isDown;
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

  /** Resolves when all rows are in the store or in the spool, if these accept them. */
  async flush(): Promise<void> {
    await this.#uncounted.mostlyWritten();
    await this.#writing;
    await this.#start();
  }

  /**
   * Writes rows of ended processes to the store, before requests are served. `aliveSpools`: names of the spools of the
   * other instances that answer; never rejects, as unaccepted rows wait.
   */
  async recover(aliveSpools: () => Promise<ReadonlySet<string>>): Promise<void> {
    await this.#drain.run();
    await this.#drain.copyUnclear(aliveSpools).catch((error: unknown) => {
      this.#options.log.warn(
        { err: error },
        'Rows in the ledger spool of other processes cannot be read yet.',
      );
    });
  }

  /** Name of this writer's spool; undefined without one. */
  get spoolName(): string | undefined {
    return this.#options.spool?.name;
  }

  /** Rows of a key or team that still wait after a short attempt to write them. */
  async waitingOf(query: WaitingQuery): Promise<WaitingUse> {
    const { spool, clock: { setTimer } = systemClock } = this.#options;
    await within(this.#settled(), settleMs, 'Some rows are still waiting.', setTimer).catch(() => undefined); // each failure is logged
    const held = new WaitingSums();
    const asked = [...this.#batch, ...this.#queue].filter((row) => isAsked(query, row));
    for (const row of asked) held.add(row, 0);
    held.markUnconfirmed(this.#unconfirmedOf(asked));
    const isGiven = this.#batch.some((row) => isAsked(query, row));
    const here = { ...held.of(query), ...(isGiven && { version: null }) };
    return spool ? bothWaiting(here, spool.waitingOf(query)) : here;
  }

  #unconfirmedOf(rows: readonly AppendedRow[]): readonly AppendedRow[] {
    return rows.filter((row) => this.#unconfirmed.has(row));
  }

  /** Sends all waiting rows to the store, also those that ended processes have left. */
  async #settled(): Promise<void> {
    await this.flush();
    const { spool } = this.#options;
    if (spool) await this.#drain.run();
    await spool?.taken;
  }

  /** Writes the remaining rows and stops draining the spool. */
  async close(): Promise<void> {
    const drained = this.#drain.close();
    await this.#uncounted.written();
    await this.flush();
    await drained;
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
      this.#batch = batch;
      const isPlaced = await this.#placed(batch);
      this.#batch = [];
      if (!isPlaced) return this.#keep(batch);
      await yieldToEventLoop(); // SQLite writes synchronously
    }
  }

  async #placed(batch: readonly AppendedRow[]): Promise<boolean> {
    return (!this.isDown && (await this.#appended(batch))) || this.#spooled(batch);
  }

  /** Appends a batch; at the timeout it counts as failed. If it succeeds later, its rows still count once. */
  async #appended(batch: readonly AppendedRow[]): Promise<boolean> {
    try {
      const silence = `The store has not answered within ${this.#timeoutMs} ms.`;
      await within(this.#options.ledger.append(batch), this.#timeoutMs, silence);
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'The ledger cannot be written; its rows are queued.');
      for (const row of batch) this.#unconfirmed.add(row);
      this.#drain.storeFailed();
      return false;
    }
  }

  async #spooled(batch: readonly AppendedRow[]): Promise<boolean> {
    const { spool, log } = this.#options;
    if (!spool) return false;
    try {
      await spool.add(batch, this.#unconfirmedOf(batch));
      this.#drain.rowsSpooled(); // the store may be back, but lacks these rows
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
}

const flushMs = 250;
const maxPending = 500;

/** Max rows per write: SQLite blocks for some milliseconds for each. */
const batchRows = 250;
const maxWaiting = 50_000;

/** Max time for an instance to write its waiting rows on request. */
const settleMs = 300;
