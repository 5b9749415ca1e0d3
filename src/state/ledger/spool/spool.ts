import { appendFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../../plugin/index.js';
import type { AppendedRow } from '../contract.js';
import { batchesIn, linesOf } from './spool-lines.js';
import {
  appendedName,
  claimedName,
  newClaim,
  newSpool,
  readSpoolName,
  type SpoolName,
} from './spool-name.js';
import { systemProcesses, type OwnerState, type SpoolOwner, type SpoolProcesses } from './spool-owner.js';
import {
  bothWaiting,
  isAsked,
  WaitingSums,
  type WaitingQuery,
  type WaitingUse,
} from '../writer/waiting-sums.js';

export interface SpoolOptions {
  readonly folder: string;
  /** Min idle time of a file whose owner may be alive, before it is taken over. */
  readonly orphanedMs?: number;
  /** Default: those of this machine. */
  readonly processes?: SpoolProcesses;
}

/** Writes rows to the store; `isOwn` is false for those that another process has spooled. */
export type TakeRows = (rows: readonly AppendedRow[], isOwn: boolean) => Promise<void>;

/** File that is claimed for the drain: no further rows are appended to it. */
interface Claimed {
  readonly id: string;
  name: string;
  /** Rows at its start that the store has accepted. */
  taken: number;
  waiting: WaitingSums;
  isOwn: boolean;
}

/**
 * Spool of ledger rows, as files of JSON lines, while the store is down; counts its waiting rows one by one until the
 * store has accepted them. Each process appends to its own file and renames it before the drain; files of dead
 * processes are drained by others, and a line cut by a crash is skipped.
 */
export class Spool {
  /** First part of the names of its files. */
  readonly name: string;
  readonly #folder: string;
  readonly #orphanedMs: number;
  readonly #processes: SpoolProcesses;
  readonly #claimed: Claimed[] = [];
  #adding: Promise<void> = Promise.resolve();
  #appended = new WaitingSums();
  #version = 0;
  #taking: Promise<void> | undefined;
  /** Rows that are being passed to the store. */
  #offered: readonly AppendedRow[] = [];

  constructor({ folder, orphanedMs = 60_000, processes = systemProcesses() }: SpoolOptions) {
    this.#folder = folder;
    this.#orphanedMs = orphanedMs;
    this.#processes = processes;
    this.name = newSpool(processes.own);
  }

  /** Number of rows in the spool; those of dead processes are unknown until their files are claimed. */
  get waiting(): number {
    return this.#claimed.reduce((sum, { waiting }) => sum + waiting.rows, this.#appended.rows);
  }

  /** Settles when the store has answered for the rows being passed to it. */
  get taken(): Promise<void> {
    return this.#taking ?? Promise.resolve();
  }

  /** Waiting rows of a key or team. */
  waitingOf(query: WaitingQuery): WaitingUse {
    const files = [this.#appended, ...this.#claimed.map(({ waiting }) => waiting)];
    const use = files.map((file) => file.of(query)).reduce((one, other) => bothWaiting(one, other));
    return this.#offered.some((row) => isAsked(query, row)) ? { ...use, version: null } : use;
  }

  /** Resolves when the rows are out of this process. `unconfirmed`: rows that the store may already have. */
  add(rows: readonly AppendedRow[], unconfirmed: readonly AppendedRow[] = []): Promise<void> {
    const lines = linesOf(rows);
    const added = this.#adding
      .then(() => this.#append(lines))
      .then(() => this.#count(this.#appended, rows, unconfirmed));
    this.#adding = added.catch(() => undefined);
    return added;
  }

  async #append(lines: string): Promise<void> {
    await makeFolder(this.#folder);
    await appendFile(this.#pathOf(appendedName(this.name)), lines, { mode: 0o600 });
  }

  /**
   * Drains the waiting rows to `take`, in batches of `size`, and deletes a file once all of it is taken. Throws as
   * `take` does; the next drain continues with the remaining rows.
   */
  async drain(take: TakeRows, size: () => number = fixedSize): Promise<number> {
    let count = 0;
    for (let file = await this.#next(); file; file = await this.#next()) {
      count += await this.#empty(file, take, size);
      await rm(this.#pathOf(file.name), { force: true });
      this.#claimed.shift();
    }
    return count;
  }

  /** Files of others that this spool may not take over yet, though their owners may be dead. */
  async unclear(): Promise<readonly SpoolName[]> {
    const found = await this.#files();
    return found.filter(({ spool, owner }) => spool !== this.name && this.#stateOf(owner) !== 'alive');
  }

  /** Writes a copy of the rows of a file, which stays: repeated rows count once. */
  async copy({ name, taken }: SpoolName, take: TakeRows): Promise<void> {
    for await (const batch of batchesIn(this.#pathOf(name), taken, fixedSize)) await take(batch, false);
  }

  async #empty(file: Claimed, take: TakeRows, size: () => number): Promise<number> {
    let count = 0;
    for await (const batch of batchesIn(this.#pathOf(file.name), file.taken, size)) {
      this.#offered = batch;
      file.waiting.markUnconfirmed(batch); // until it is taken
      this.#taking = take(batch, file.isOwn).then(() => this.#hasTaken(file, batch));
      await this.#taking.finally(() => {
        this.#offered = [];
        this.#taking = undefined;
      });
      count += batch.length;
    }
    return count;
  }

  /** Records the accepted rows, also for a process that finds the file after a crash. */
  async #hasTaken(file: Claimed, batch: readonly AppendedRow[]): Promise<void> {
    file.waiting.remove(batch, this.#nextVersion());
    file.taken += batch.length;
    const name = claimedName(this.name, file.id, file.taken);
    if (await this.#renamed(file.name, name)) file.name = name;
  }

  /** File to drain next; a file that could not be drained comes before another one is claimed. */
  async #next(): Promise<Claimed | undefined> {
    const [first] = this.#claimed;
    if (first) return first;
    for (const found of await this.#files()) {
      if (!(await this.#isAbandoned(found))) continue;
      const claimed = this.#adding.then(() => this.#claim(found));
      this.#adding = claimed.then(
        () => undefined,
        () => undefined,
      );
      const file = await claimed;
      if (file) return file;
    }
    return undefined;
  }

  /** Claims a file, so that no further rows are appended to it; undefined if another process was faster. */
  async #claim({ name, spool, taken }: SpoolName): Promise<Claimed | undefined> {
    const id = newClaim();
    const isOwn = spool === this.name;
    const file = { id, name: claimedName(this.name, id, taken), taken, waiting: new WaitingSums(), isOwn };
    if (!(await this.#renamed(name, file.name))) return undefined;
    if (name === appendedName(this.name)) {
      file.waiting = this.#appended;
      this.#appended = new WaitingSums();
    } else await this.#countLeft(file);
    this.#claimed.push(file);
    return file;
  }

  /** Counts the rows that another process has left, any of which the store may already have. */
  async #countLeft({ name, taken, waiting }: Claimed): Promise<void> {
    for await (const batch of batchesIn(this.#pathOf(name), taken, fixedSize))
      this.#count(waiting, batch, batch);
  }

  #count(waiting: WaitingSums, rows: readonly AppendedRow[], unconfirmed: readonly AppendedRow[]): void {
    const version = this.#nextVersion();
    for (const row of rows) waiting.add(row, version);
    waiting.markUnconfirmed(unconfirmed);
  }

  async #renamed(from: string, to: string): Promise<boolean> {
    try {
      await rename(this.#pathOf(from), this.#pathOf(to));
    } catch {
      return false;
    }
    await utimes(this.#pathOf(to), new Date(), new Date()).catch(() => undefined); // its age counts from now
    return true;
  }

  async #files(): Promise<readonly SpoolName[]> {
    const names = await readdir(this.#folder).catch(() => []); // no folder: nothing is spooled
    return names.flatMap((name) => readSpoolName(name) ?? []);
  }

  async #isAbandoned({ name, spool, owner }: SpoolName): Promise<boolean> {
    const state = spool === this.name ? 'dead' : this.#stateOf(owner);
    if (state !== 'unknown') return state === 'dead';
    const { mtimeMs } = await stat(this.#pathOf(name)).catch(() => ({ mtimeMs: Infinity })); // already deleted
    return Date.now() - mtimeMs >= this.#orphanedMs;
  }

  #stateOf(owner: SpoolOwner | undefined): OwnerState {
    return owner ? this.#processes.stateOf(owner) : 'unknown';
  }

  #nextVersion(): number {
    return (this.#version += 1);
  }

  #pathOf(name: string): string {
    return path.join(this.#folder, name);
  }
}

const fixedSize = (): number => 500;
