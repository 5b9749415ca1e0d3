import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type Libsql from 'libsql';
import { SqliteError, type Database, type DatabaseOptions, type PreparedStatement } from './database.js';
import { nameOfCode } from './sqlite-codes.js';

/** Opens a SQLite file by libsql, for versions of Node whose own library is experimental or missing. */
export function openByLibsql(file: string, options: DatabaseOptions = {}): Database {
  const { isReadOnly = false, isImmutable = false, timeoutMs = 0 } = options;
  const Library = library();
  const address = isReadOnly ? addressOf(file, isImmutable ? 'immutable=1' : 'mode=ro') : file; // ignores `readonly`
  return new LibsqlDatabase(attempt(() => new Library(address, { timeout: timeoutMs })));
}

function addressOf(file: string, query: string): string {
  return `${pathToFileURL(path.resolve(file)).href}?${query}`;
}

/** Loaded by the first file, as no other store needs it. */
function library(): typeof Libsql {
  try {
    return createRequire(import.meta.url)('libsql') as typeof Libsql; // the module of that name
  } catch (error) {
    throw new SqliteError(
      'the package libsql is not installed, which SQLite needs on Node before 24.15',
      'NO_LIBRARY',
      { cause: error },
    );
  }
}

class LibsqlDatabase implements Database {
  readonly #database: Libsql.Database;

  constructor(database: Libsql.Database) {
    this.#database = database;
  }

  get isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  prepare(sql: string): PreparedStatement {
    const statement = attempt(() => this.#database.prepare(sql));
    return {
      isReading: statement.reader,
      all: (values = []) => attempt(() => statement.all(values)),
      run: (values = []) => attempt(() => statement.run(values).changes),
    };
  }

  exec(sql: string): void {
    attempt(() => this.#database.exec(sql));
  }

  close(): void {
    this.#database.close();
  }
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw sqliteError(error);
  }
}

/** The error with SQLite's name of its code, if libsql has only the number. */
function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const [, number] = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code) ?? openFailure.exec(error.message) ?? [];
  if (number === undefined) return error;
  const message = openFailure.test(error.message) ? 'unable to open database file' : error.message;
  return new SqliteError(message, nameOfCode(Number(number)), { cause: error });
}

/** Message of libsql, without a code, if a file cannot be opened. */
const openFailure = /^ConnectionFailed\(".*: (\d+)"\)$/s;
