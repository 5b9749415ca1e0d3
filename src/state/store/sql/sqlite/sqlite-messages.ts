import type { Result, Statement } from './connection.js';

/** Start options of the thread. */
export interface ThreadOptions {
  readonly file: string;
  /** Time that a statement waits for the lock of another process. */
  readonly lockTimeoutMs: number;
}

/** A module for the thread to run beside its statements: its `begin` is called with `data`. */
export interface ThreadModule {
  readonly url: string;
  readonly data: unknown;
}

/** A request to the thread; `connection` distinguishes transactions. */
export type ThreadRequest = { readonly id: number; readonly connection: number } & ThreadWork;

export type ThreadWork =
  | ({ readonly kind: 'query' } & Statement)
  | { readonly kind: 'begin' | 'commit' | 'rollback' | 'close' }
  /** `text`: a WriteBatch in JSON, which is faster to post than its values. */
  | { readonly kind: 'write'; readonly text: string };

/**
 * Statements of one transaction. Rolled back unless `checked` change `changes` rows together; `rest` runs
 * after that check.
 */
export interface WriteBatch {
  readonly checked: readonly Statement[];
  readonly changes: number;
  readonly rest: readonly Statement[];
}

/** The answer to a request: its result, or the error with SQLite's code. */
export type ThreadReply =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: { readonly message: string; readonly code: string | undefined } };
