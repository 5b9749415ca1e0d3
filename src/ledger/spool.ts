import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder, type AppendedRow } from '../plugin/internal.js';

export interface SpoolOptions {
  readonly folder: string;
  /** Min idle time of another process's file before it is taken over. */
  readonly orphanedMs?: number;
}

/**
 * Spool of ledger rows, as files of JSON lines, while the store is down. Each process appends to its own file
 * and renames it before the drain; files of ended processes are drained by others, and a line cut by a crash
 * is skipped.
 */
export class Spool {
  readonly #folder: string;
  readonly #orphanedMs: number;
  readonly #id = randomBytes(6).toString('hex');
  #adding: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor({ folder, orphanedMs = 60_000 }: SpoolOptions) {
    this.#folder = folder;
    this.#orphanedMs = orphanedMs;
  }

  /** Number of this process's rows in the spool; those of ended processes are unknown until read. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the rows are out of this process. */
  add(rows: readonly AppendedRow[]): Promise<void> {
    // Starts with a line break, as a full disk may have cut off the line before.
    const lines = rows.map((row) => `\n${JSON.stringify(row)}`).join('');
    const added = this.#adding
      .then(() => this.#append(lines))
      .then(() => void (this.#waiting += rows.length));
    this.#adding = added.catch(() => undefined);
    return added;
  }

  async #append(lines: string): Promise<void> {
    await makeFolder(this.#folder);
    await appendFile(path.join(this.#folder, `ledger-${this.#id}.ndjson`), lines, { mode: 0o600 });
  }

  /**
   * Drains the waiting rows to `take`, in batches, and deletes a file once all of it is taken. Throws as
   * `take` does.
   */
  async drain(take: (rows: readonly AppendedRow[]) => Promise<void>): Promise<number> {
    let count = 0;
    for (let file = await this.#claim(); file; file = await this.#claim()) {
      for await (const batch of batchesIn(file)) {
        await take(batch);
        count += batch.length;
        this.#waiting = Math.max(0, this.#waiting - batch.length);
      }
      await rm(file, { force: true });
    }
    return count;
  }

  /** Claims a file for the drain, so that nothing more is appended to it; undefined if none is left. */
  async #claim(): Promise<string | undefined> {
    const names = await readdir(this.#folder).catch(() => []); // no folder: nothing is spooled
    for (const name of names.filter((each) => spoolName.test(each))) {
      if (!name.includes(this.#id) && !(await this.#isOrphaned(name))) continue;
      const claimed = this.#adding.then(() => this.#take(name));
      this.#adding = claimed.then(() => undefined);
      const file = await claimed;
      if (file) return file;
    }
    return undefined;
  }

  /** Claims one file; undefined if another process was faster. */
  async #take(name: string): Promise<string | undefined> {
    const from = path.join(this.#folder, name);
    const to = path.join(this.#folder, `ledger-${this.#id}-${randomBytes(4).toString('hex')}.draining`);
    try {
      await rename(from, to);
      await utimes(to, new Date(), new Date());
      return to;
    } catch {
      return undefined;
    }
  }

  async #isOrphaned(name: string): Promise<boolean> {
    const { mtimeMs } = await stat(path.join(this.#folder, name)).catch(() => ({ mtimeMs: Infinity })); // already deleted
    return Date.now() - mtimeMs >= this.#orphanedMs;
  }
}

const spoolName = /^ledger-[\w-]+\.(?:ndjson|draining)$/;
const batchRows = 500;

async function* batchesIn(file: string): AsyncGenerator<readonly AppendedRow[]> {
  let batch: AppendedRow[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const row = rowIn(line);
    if (row) batch.push(row);
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function rowIn(line: string): AppendedRow | undefined {
  if (!line.endsWith('}')) return undefined;
  try {
    return JSON.parse(line) as AppendedRow; // as `add` wrote it
  } catch {
    return undefined; // truncated row
  }
}
