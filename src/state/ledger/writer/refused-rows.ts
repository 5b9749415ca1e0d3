import { randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, type Logger } from '../../../plugin/index.js';
import { RefusedRowsError, type AppendedRow, type Ledger } from '../contract.js';

interface RefusedRowsOptions {
  readonly ledger: Pick<Ledger, 'append'>;
  /** Folder of the file for refused rows; undefined: they are lost. */
  readonly folder: string | undefined;
  readonly log: Logger;
}

/**
 * Ledger that sets rows aside that the store refuses for their content, in a file beside the spool,
 * `refused-ID.ndjson`. No drain reads it, so that they do not block the others.
 */
export class RefusedRows implements Pick<Ledger, 'append'> {
  readonly #options: RefusedRowsOptions;
  readonly #name = `refused-${randomBytes(6).toString('hex')}.ndjson`;
  /** Ids of the last ones, which are repeated if a part of their batch has failed. */
  readonly #known = new Set<string>();
  #count = 0;

  constructor(options: RefusedRowsOptions) {
    this.#options = options;
  }

  /** Number of rows that the store has refused. */
  get count(): number {
    return this.#count;
  }

  async append(rows: readonly AppendedRow[]): Promise<void> {
    const refused: Refused[] = [];
    try {
      await this.#split(
        this.#known.size === 0 ? rows : rows.filter(({ id }) => !this.#known.has(id)),
        refused,
      );
    } finally {
      if (refused.length > 0) await this.#setAside(refused);
    }
  }

  /** Appends rows, halving refused batches until the refused rows are isolated. */
  async #split(rows: readonly AppendedRow[], refused: Refused[]): Promise<void> {
    try {
      await this.#options.ledger.append(rows);
    } catch (error) {
      if (!(error instanceof RefusedRowsError)) throw error;
      const [row] = rows;
      if (row && rows.length === 1) return void refused.push({ row, code: error.reason });
      const middle = Math.ceil(rows.length / 2);
      await this.#split(rows.slice(0, middle), refused);
      await this.#split(rows.slice(middle), refused);
    }
  }

  async #setAside(refused: readonly Refused[]): Promise<void> {
    const { folder, log } = this.#options;
    this.#count += refused.length;
    for (const { row } of refused) this.#remember(row.id);
    const ids = refused.slice(0, maxLogged).map(({ row }) => row.id);
    const fields = { rows: refused.length, ids, codes: [...new Set(refused.map(({ code }) => code))] };
    const file = folder && path.join(folder, this.#name);
    try {
      if (!folder || !file) throw new Error('No spool is configured.');
      await makeFolder(folder);
      await appendFile(file, refused.map(({ row }) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
      log.error({ ...fields, file }, 'The store refuses ledger rows for their content; they are set aside.');
    } catch (error) {
      log.error({ ...fields, err: error }, 'The store refuses ledger rows for their content; they are lost.');
    }
  }

  #remember(id: string): void {
    this.#known.add(id);
    const [oldest] = this.#known;
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}

interface Refused {
  readonly row: AppendedRow;
  /** Code of the database's error; its message may quote the row. */
  readonly code: string;
}

const maxLogged = 10;
const maxKnown = 10_000;
