import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { AppendedRow, Ledger } from '../contract.js';
import type { Clock, Logger } from '../../../plugin/index.js';
import type { LimitHolder } from '../../../plugin/core.js';
import type { Spool } from './spool.js';
import { Holders } from '../writer/waiting-sums.js';

export interface SpoolDrainOptions {
  readonly ledger: Pick<Ledger, 'append'>;
  readonly spool: Spool | undefined;
  readonly log: Logger;
  readonly setTimer: Clock['setTimer'];
  /** First backoff after a failure; it doubles up to a second. */
  readonly retryMs: number;
  /** Called when the store accepts rows again. */
  readonly onUp: () => void;
  /**
   * Called with the keys and teams of rows that another process had spooled, once they are in the store; repeated if it
   * rejects.
   */
  readonly onRecovered: ((holders: readonly LimitHolder[]) => Promise<void>) | undefined;
}

/** Drains the spool to the store in small steps, with retries until the store accepts its rows. */
export class SpoolDrain {
  readonly #options: SpoolDrainOptions;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #retryMs: number;
  #stepRows = firstStep;
  readonly #recovered = new Holders();
  #isDown = false;
  #isClosed = false;

  constructor(options: SpoolDrainOptions) {
    this.#options = options;
    this.#retryMs = options.retryMs;
    this.#runIn(0);
  }

  /** True while the store does not accept rows. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Schedules a retry: the store has not accepted some rows. */
  storeFailed(): void {
    this.#isDown = true;
    this.#runIn(this.#retryMs);
  }

  /** Schedules a drain of rows that were spooled while the store is up. */
  rowsSpooled(): void {
    if (!this.#isDown) this.#runIn(this.#options.retryMs);
  }

  /** Drains the waiting rows, as far as the store accepts them; never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Writes rows to the store that other processes have spooled and may still own. Rejects as the store does. */
  async copyUnclear(aliveSpools: () => Promise<ReadonlySet<string>>): Promise<void> {
    const { spool } = this.#options;
    const files = (await spool?.unclear()) ?? [];
    if (!spool || files.length === 0) return;
    const alive = await aliveSpools();
    for (const file of files) if (!alive.has(file.spool)) await spool.copy(file, this.#take);
    this.#reportRecovered();
  }

  /** Ends after the current step. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#running;
  }

  #runIn(ms: number): void {
    this.#cancel?.();
    if (!this.#isClosed) this.#cancel = this.#options.setTimer(() => void this.run(), ms);
  }

  async #run(): Promise<void> {
    const { spool, log, retryMs, onUp } = this.#options;
    try {
      const drain = async () => (await spool?.drain(this.#take, () => this.#stepRows)) ?? 0;
      const waited = await drain();
      this.#isDown = false; // new rows bypass the spool again
      const rows = waited + (await drain()); // those that were spooled during the end of the first drain
      if (rows > 0) log.info({ rows }, 'The ledger has written all queued rows.');
      this.#retryMs = retryMs;
      this.#reportRecovered();
      onUp();
      const isWhole = !this.#isDown && !spool?.waiting; // else rows were spooled during the drain
      this.#runIn(isWhole ? rescanMs : retryMs);
    } catch (error) {
      if (this.#isClosed) return;
      if (!this.#isDown) log.warn({ err: error }, 'The spooled ledger rows cannot be written to the store.');
      this.#isDown = true;
      this.#runIn(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
    }
  }

  /** One step, whose size is halved if the store fails: a slow one may accept fewer rows in its time. */
  readonly #take = async (rows: readonly AppendedRow[], isOwn: boolean): Promise<void> => {
    if (this.#isClosed) throw new Error('The writer was closed.');
    try {
      await this.#options.ledger.append(rows);
      this.#stepRows = Math.min(maxStep, this.#stepRows * 2);
    } catch (error) {
      this.#stepRows = Math.max(minStep, Math.ceil(this.#stepRows / 2));
      throw error;
    }
    if (!isOwn) this.#recovered.add(rows);
    await yieldToEventLoop();
  };

  #reportRecovered(): void {
    const holders = this.#recovered.takeAll();
    if (holders.length === 0) return;
    this.#options.onRecovered?.(holders).catch(() => {
      this.#recovered.restore(holders);
      this.#runIn(this.#options.retryMs);
    });
  }
}

/** Rows of a step. */
const firstStep = 100;
const minStep = 10;
const maxStep = 250;

/** Max backoff: an attempt while the store is down costs one step. */
const maxRetryMs = 1000;

/** Interval of the scan for spools of processes that have ended. */
const rescanMs = 60_000;
