import { setImmediate as breath } from 'node:timers/promises';
import { within, type Caches, type Ledger, type LedgerRow, type Logger } from '../plugin/index.js';
import type { Spool } from './spool.js';

export interface LedgerWriterOptions {
  readonly ledger: Pick<Ledger, 'append'>;
  /** Where rows wait while the store is away; without one they wait in memory, and the oldest go first. */
  readonly spool?: Spool;
  readonly log: Logger;
  /** How long a batch may take before its rows are spooled too. */
  readonly patienceMs?: number;
  /** The first pause after a failure; it doubles up to half a minute. */
  readonly retryMs?: number;
}

/**
 * Writes rows off the request path: every 250 ms, or when there are 500 of them. What the store does not take within a
 * second goes to the spool, and from there to the store when that is back; a row that comes twice counts once.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #patienceMs: number;
  readonly #firstRetryMs: number;
  #queue: LedgerRow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #catchingUp: Promise<void> | undefined;
  #catchUpTimer: NodeJS.Timeout | undefined;
  #retryMs: number;
  #isAway = false;
  #isClosed = false;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 1000;
    this.#firstRetryMs = this.#retryMs = options.retryMs ?? 500;
    this.#catchUpIn(0);
  }

  /** Whether the store takes rows at the moment. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** How many rows the store does not have yet. */
  get waiting(): number {
    return this.#queue.length + (this.#options.spool?.waiting ?? 0);
  }

  get caches(): Caches {
    return { ledger_rows_in_memory: () => ({ entries: this.#queue.length, capacity: mostWaiting }) };
  }

  write(row: LedgerRow): void {
    this.#queue.push(row);
    if (this.#queue.length > mostWaiting) this.#lose(mostUnwritten);
    if (this.#queue.length >= mostUnwritten) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), flushMs).unref();
  }

  /** Resolves when all rows are in the store, or in the spool, as far as these take them. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#start();
  }

  /** Writes what is left, and lets the spool catch up no longer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#catchUpTimer);
    await this.flush();
    await this.#catchingUp;
    if (this.#queue.length > 0)
      this.#options.log.error({ rows: this.#queue.length }, 'Rows of the ledger are lost.');
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
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
      await breath(); // SQLite writes within this very turn
    }
  }

  async #placed(batch: readonly LedgerRow[]): Promise<boolean> {
    return (!this.#isAway && (await this.#appended(batch))) || this.#spooled(batch);
  }

  /** A batch that is still under way when patience ends counts as not taken: should it be after all, that does no harm. */
  async #appended(batch: readonly LedgerRow[]): Promise<boolean> {
    try {
      const silence = `The store has not answered within ${this.#patienceMs} ms.`;
      await within(this.#options.ledger.append(batch), this.#patienceMs, silence);
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'The ledger cannot be written; its rows wait.');
      this.#isAway = true;
      this.#catchUpIn(this.#retryMs);
      return false;
    }
  }

  async #spooled(batch: readonly LedgerRow[]): Promise<boolean> {
    const { spool, log } = this.#options;
    if (!spool) return false;
    try {
      await spool.add(batch);
      if (!this.#isAway) this.#catchUpIn(this.#firstRetryMs); // it has come back meanwhile, and has not seen these
      return true;
    } catch (error) {
      log.error({ err: error }, 'The spool of the ledger cannot be written; rows wait in memory.');
      return false;
    }
  }

  #keep(batch: readonly LedgerRow[]): void {
    this.#queue = [...batch, ...this.#queue];
    const lost = this.#queue.length - mostWaiting;
    if (lost > 0) this.#lose(lost);
  }

  #lose(rows: number): void {
    this.#queue.splice(0, rows);
    this.#options.log.error({ rows }, 'Rows of the ledger are lost: neither store nor spool takes them.');
  }

  #catchUpIn(ms: number): void {
    clearTimeout(this.#catchUpTimer);
    if (this.#isClosed) return;
    this.#catchUpTimer = setTimeout(() => {
      this.#catchingUp ??= this.#catchUp().finally(() => {
        this.#catchingUp = undefined;
      });
    }, ms).unref();
  }

  /** Brings what waits to the store. New rows go past the spool again once the store has taken all that was in it. */
  async #catchUp(): Promise<void> {
    const { ledger, spool, log } = this.#options;
    try {
      const take = async (batch: readonly LedgerRow[]) => {
        if (this.#isClosed) throw new Error('The writer was closed.');
        await ledger.append(batch);
      };
      const waited = (await spool?.drain(take)) ?? 0;
      this.#isAway = false;
      // Once more for what was spooled while the last of it was looked for.
      const rows = waited + ((await spool?.drain(take)) ?? 0);
      if (rows > 0) log.info({ rows }, 'The ledger has caught up.');
      this.#retryMs = this.#firstRetryMs;
      if (this.#queue.length > 0) void this.#start();
      const isWhole = !this.#isAway && !spool?.waiting; // else some were spooled behind its back
      this.#catchUpIn(isWhole ? rescanMs : this.#firstRetryMs);
    } catch (error) {
      if (this.#isClosed) return;
      if (!this.#isAway) log.warn({ err: error }, 'The spool of the ledger cannot be brought to the store.');
      this.#isAway = true;
      this.#catchUpIn(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    }
  }
}

const flushMs = 250;
const mostUnwritten = 500;

/** How many rows go at once: SQLite takes some milliseconds for them, in which nothing else runs. */
const batchRows = 100;
const mostWaiting = 50_000;
const longestRetryMs = 30_000;

/** How often the spools of processes that have ended are looked for. */
const rescanMs = 60_000;
