import { copyFile, chmod, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../../../../plugin/index.js';
import { StoreError } from '../../store-error.js';
import type { Database } from './database.js';
import { openDatabase } from './driver.js';
import { backupError, checkedContents, flush, type Contents } from './backup.js';
import { newerError } from '../ledger/migration-steps.js';

/** Result of a restore. */
export interface Restored {
  readonly contents: Contents;
  /** Path of the former file; undefined if there was none. */
  readonly kept: string | undefined;
}

/**
 * Replaces a SQLite file, which is kept beside it, by a checked copy of a backup. Throws a StoreError if the backup is
 * damaged or of a newer version, or a gateway has the file open; then nothing has changed.
 */
export async function restoreSqlite(backup: string, file: string, nowMs: number): Promise<Restored> {
  const part = `${file}.restoring`;
  try {
    if (existsSync(`${backup}-wal`))
      throw new StoreError(
        `${backup} has a write-ahead log (${backup}-wal): create the backup with gw2api backup.`,
      );
    await makeFolder(path.dirname(file), 0o700);
    await copyFile(backup, part);
    await chmod(part, 0o600);
    const contents = await usableContents(part, backup);
    await flush(part);
    const kept = existsSync(file) ? await moveAway(file, part, nowMs) : undefined;
    if (kept === undefined) await rename(part, file);
    await flush(path.dirname(path.resolve(file)));
    return { contents, kept };
  } catch (error) {
    throw backupError(`${backup} cannot be restored`, error);
  } finally {
    await rm(part, { force: true });
  }
}

async function usableContents(part: string, backup: string): Promise<Contents> {
  const contents = await checkedContents(part).catch((error: unknown) => {
    throw error instanceof StoreError ? new StoreError(error.message.replaceAll(part, backup)) : error;
  });
  if (contents.schema.state === 'newer') throw newerError(backup, contents.schema);
  return contents;
}

/** Replaces the file while no gateway can open it. Returns the new name of the former one. */
async function moveAway(file: string, part: string, nowMs: number): Promise<string> {
  const kept = `${file}.before-${new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const lock = lockAlone(file);
  try {
    const isAlone = lock !== undefined;
    for (const ending of isAlone ? [''] : ['', '-wal', '-shm'])
      if (existsSync(file + ending)) await rename(file + ending, kept + ending);
    for (const ending of ['-wal', '-shm']) await rm(file + ending, { force: true });
    await rename(part, file);
  } finally {
    lock?.close();
  }
  return kept;
}

/**
 * Locks a file that no other process has open, with all of its log in it; undefined for a damaged one. Throws a
 * StoreError if a gateway has it open: SQLite then refuses to end the log.
 */
function lockAlone(file: string): Database | undefined {
  const db = openDatabase(file, { timeoutMs: lockTimeoutMs });
  try {
    db.exec('pragma locking_mode = exclusive');
    db.exec('pragma journal_mode = delete');
    db.exec('begin exclusive');
    return db;
  } catch (error) {
    db.close();
    const code = String((error as NodeJS.ErrnoException).code); // SQLite throws nothing else
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return undefined;
    if (!code.startsWith('SQLITE_BUSY')) throw error;
    throw new StoreError(`A gateway, or another program, has ${file} open: stop it first.`, { cause: error });
  }
}

const lockTimeoutMs = 1000;
