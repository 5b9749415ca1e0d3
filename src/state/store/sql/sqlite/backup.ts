import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../../store-error.js';
import { openDatabase } from './driver.js';
import { schemaOf, type Schema } from '../tables/migrate.js';
import { readOnlySqlite } from './sqlite.js';
import { sql } from 'kysely';

/** Contents of a SQLite file, for the operator. */
export interface Contents {
  readonly bytes: number;
  readonly schema: Schema;
  /** Number of rows by table. */
  readonly rows: Readonly<Record<(typeof countedTables)[number], number>>;
}

const countedTables = ['keys', 'slots', 'credentials', 'ledger'] as const;

/**
 * Copies a SQLite file as of one moment, while gateways write to it; the copy is checked, and complete by itself.
 * Throws a StoreError, and then leaves no file.
 */
export async function backupSqlite(from: string, to: string): Promise<Contents> {
  const part = `${to}.part`;
  await rm(part, { force: true });
  const made = await open(to, 'wx', 0o600).catch((error: unknown) => {
    throw backupError(`The backup ${to} cannot be written`, error);
  });
  await made.close();
  try {
    await (await open(part, 'wx', 0o600)).close(); // SQLite writes into an empty file, which keeps its mode
    copyInto(from, part);
    const contents = await checkedContents(part);
    await flush(part);
    await rename(part, to);
    await flush(path.dirname(path.resolve(to)));
    return contents;
  } catch (error) {
    await rm(part, { force: true });
    await rm(to, { force: true });
    throw backupError(`${from} cannot be copied`, error);
  }
}

/** `vacuum into` reads in one transaction, which neither disturbs writers nor is disturbed. */
function copyInto(from: string, to: string): void {
  const db = openDatabase(from, { isReadOnly: true, timeoutMs: lockTimeoutMs });
  try {
    db.exec(`vacuum into '${to.replaceAll("'", "''")}'`);
  } finally {
    db.close();
  }
}

const lockTimeoutMs = 5000;

/** Checks a SQLite file without writers. Throws a StoreError if it is damaged, or not of a gateway. */
export async function checkedContents(file: string): Promise<Contents> {
  const db = readOnlySqlite(file);
  try {
    const { rows: found } = await sql<{ integrity_check: string }>`pragma integrity_check(1)`.execute(db);
    const fault = found[0]?.integrity_check;
    if (fault !== 'ok') throw new StoreError(`${file} is damaged (${fault}).`);
    const schema = await schemaOf(db, 'sqlite');
    if (schema.state === 'empty') throw new StoreError(`${file} is not the store of a gateway.`);
    const rows = { keys: 0, slots: 0, credentials: 0, ledger: 0 };
    for (const table of countedTables) {
      const { rows: counted } = await sql<{
        count: number;
      }>`select count(*) as count from ${sql.table(table)}`.execute(db);
      rows[table] = counted[0]?.count ?? 0;
    }
    return { bytes: (await stat(file)).size, schema, rows };
  } catch (error) {
    throw backupError(`${file} cannot be read`, error);
  } finally {
    await db.destroy();
  }
}

/** Waits until a file, or the names in a folder, are on the disk. */
export async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Error as a sentence; an existing sentence stays unchanged. */
export function backupError(what: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException; // file system and SQLite throw nothing else
  return new StoreError(`${what}: ${(code && causes[code]) ?? message}.`, { cause });
}

const causes: Readonly<Record<string, string>> = {
  EEXIST: 'it already exists; choose another name',
  ENOENT: 'the file or folder does not exist',
  SQLITE_NOTADB: 'it is not a SQLite file',
};
