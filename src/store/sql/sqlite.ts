import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../store-error.js';
import { LibsqlDialect } from './libsql-dialect.js';
import type { Tables } from './tables.js';
import { Kysely } from './kysely.js';

/** Opens a SQLite file, and makes it and its folder where they are missing. Throws a StoreError. */
export async function openSqlite(file: string): Promise<Kysely<Tables>> {
  await makeFile(file).catch((error: NodeJS.ErrnoException) => {
    throw cannotOpen(file, error);
  });
  const db = new Kysely<Tables>({ dialect: new LibsqlDialect(file) });
  // The first connection opens the file.
  await db
    .connection()
    .execute(async () => undefined)
    .catch(async (error: unknown) => {
      await db.destroy();
      throw cannotOpen(file, error);
    });
  return db;
}

/**
 * Stored responses are what people have written: a folder or a file that is made here is the operator's alone, and SQLite
 * gives its log beside the file the same mode.
 */
async function makeFile(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const made = await open(file, 'a', 0o600);
  await made.close();
}

function cannotOpen(file: string, cause: unknown): StoreError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(
    `The SQLite file ${file} cannot be opened (${why}); make its folder writable, or name another one.`,
    { cause },
  );
}
