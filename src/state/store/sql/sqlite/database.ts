/** Options for opening a SQLite file. */
export interface DatabaseOptions {
  readonly isReadOnly?: boolean;
  /** With `isReadOnly`: the file no longer changes, so that SQLite needs no lock and no write-ahead log. */
  readonly isImmutable?: boolean;
  /** Time that a statement waits for a lock, in milliseconds; 0 by default. */
  readonly timeoutMs?: number;
}

/** One connection to a SQLite file, by any library. Errors have SQLite's extended code: `SQLITE_BUSY_SNAPSHOT`. */
export interface Database {
  readonly isInTransaction: boolean;
  prepare(sql: string): PreparedStatement;
  /** Runs statements without bound values, and drops their rows. */
  exec(sql: string): void;
  close(): void;
}

export interface PreparedStatement {
  /** True if it returns rows. */
  readonly isReading: boolean;
  /** Its rows. Integers that no double holds are rounded. */
  all(values?: readonly unknown[]): readonly unknown[];
  /** Number of rows that it has changed. */
  run(values?: readonly unknown[]): number;
}

/** An error of SQLite, with its extended code: `SQLITE_BUSY`, `SQLITE_CONSTRAINT_UNIQUE`, … */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
