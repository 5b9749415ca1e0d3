import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../../kit/time/within.js';
import type { AppendedRow } from '../contract.js';

/** Rows that are written once their use is counted. */
export class UncountedRows {
  readonly #rows = new Set<Promise<void>>();

  get size(): number {
    return this.#rows.size;
  }

  /** Calls `write` when `counted` has settled, or after some seconds, counted or not. */
  hold(row: AppendedRow, counted: Promise<unknown>, write: (row: AppendedRow) => void): void {
    const written = within(counted, maxCountingMs, 'A row was written before it was counted.')
      .catch(() => undefined)
      .then(() => write(row))
      .finally(() => this.#rows.delete(written));
    this.#rows.add(written);
  }

  /** Resolves when all current rows are written. */
  async written(): Promise<void> {
    await Promise.all(this.#rows);
  }

  /** Same, or after a moment: a row whose meter is being opened waits for a flush itself. */
  async mostlyWritten(): Promise<void> {
    if (this.size > 0) await Promise.race([this.written(), delay(flushWaitMs)]);
  }
}

const maxCountingMs = 5000;
const flushWaitMs = 100;
