import { pathToFileURL } from 'node:url';
import { SqliteError, type Database, type DatabaseOptions, type PreparedStatement } from './database.js';
import { nameOfCode } from './sqlite-codes.js';

/** The parts of `node:sqlite` that are used; the types of Node 20 lack them. */
interface Sqlite {
  readonly DatabaseSync: new (
    path: string | URL,
    options: { readonly readOnly: boolean; readonly timeout: number },
  ) => DatabaseSync;
}

interface DatabaseSync {
  readonly isTransaction: boolean;
  prepare(sql: string): StatementSync;
  exec(sql: string): void;
  close(): void;
}

interface StatementSync {
  columns(): readonly unknown[];
  all(...values: readonly unknown[]): readonly Readonly<Record<string, unknown>>[];
  run(...values: readonly unknown[]): { readonly changes: number };
  setReadBigInts(isOn: boolean): void;
}

/** Opens a SQLite file by Node's own library. */
export function openByNode(file: string, options: DatabaseOptions = {}): Database {
  const { isReadOnly = false, isImmutable = false, timeoutMs = 0 } = options;
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as Sqlite; // unknown to the types
  const path = isImmutable ? new URL('?immutable=1', pathToFileURL(file)) : file;
  return new NodeDatabase(
    attempt(() => new DatabaseSync(path, { readOnly: isReadOnly, timeout: timeoutMs })),
  );
}

class NodeDatabase implements Database {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  prepare(sql: string): PreparedStatement {
    return new NodeStatement(
      attempt(() => this.#database.prepare(sql)),
      isSelect.test(sql),
    );
  }

  exec(sql: string): void {
    attempt(() => this.#database.exec(sql));
  }

  close(): void {
    this.#database.close();
  }
}

/** Statements that may run twice; any other that returns rows (`with …`, `… returning`) may write. */
const isSelect = /^\s*select\b/i;

class NodeStatement implements PreparedStatement {
  readonly #statement: StatementSync;
  readonly isReading: boolean;
  readonly #isSelect: boolean;

  constructor(statement: StatementSync, isSelect: boolean) {
    this.#statement = statement;
    this.isReading = statement.columns().length > 0;
    this.#isSelect = isSelect;
  }

  all(values: readonly unknown[] = []): readonly unknown[] {
    const bound = values.map(bindable);
    if (!this.#isSelect) return this.#allRounded(bound);
    try {
      return this.#statement.all(...bound);
    } catch (error) {
      if (isOutOfRange(error)) return this.#allRounded(bound);
      throw sqliteError(error);
    }
  }

  run(values: readonly unknown[] = []): number {
    return attempt(() => this.#statement.run(...values.map(bindable)).changes);
  }

  #allRounded(values: readonly unknown[]): readonly unknown[] {
    this.#statement.setReadBigInts(true);
    try {
      return attempt(() => this.#statement.all(...values)).map(rounded);
    } finally {
      this.#statement.setReadBigInts(false);
    }
  }
}

/** A value as `node:sqlite` binds it, which treats other objects as names of parameters. */
function bindable(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  throw new TypeError('SQLite binds numbers, strings, buffers and null alone.');
}

function rounded(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  );
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw sqliteError(error);
  }
}

/** The error with SQLite's name of its code in place of Node's. */
function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  return new SqliteError(error.message, nameOfCode(error.errcode), { cause: error });
}
