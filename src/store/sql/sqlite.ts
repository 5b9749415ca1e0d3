import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../store-error.js';
import { LibsqlDialect } from './libsql-dialect.js';
import type { Tables } from './tables.js';
import { Kysely } from './kysely.js';

/** Opens a SQLite file, and makes it and its folder where they are missing. Throws a StoreError. */
export async function openSqlite(file: string): Promise<Kysely<Tables>> {
  // Stored responses are what people have written: a folder that is made here is the operator's alone.
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw cannotOpen(file, error);
  });
  const db = new Kysely<Tables>({ dialect: new LibsqlDialect(file) });
  // The first connection opens the file.
  await db
    .connection()
    .execute(async () => undefined)
    .catch((error: unknown) => {
      throw cannotOpen(file, error);
    });
  return db;
}

function cannotOpen(file: string, cause: unknown): StoreError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(
    `The SQLite file ${file} cannot be opened (${why}); make its folder writable, or name another one.`,
    { cause },
  );
}
