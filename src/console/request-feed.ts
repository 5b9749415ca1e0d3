import type { LedgerRow } from '../plugin/index.js';

/** Tells of each request to a model once its response has closed. */
export interface RequestFeed {
  publish(row: LedgerRow): void;
  /** Gives what ends the subscription; a listener must neither throw nor wait. */
  subscribe(listener: RequestListener): () => void;
}

export type RequestListener = (row: LedgerRow) => void;

/** The feed of one process. */
export class LocalFeed implements RequestFeed {
  readonly #listeners = new Set<RequestListener>();

  publish(row: LedgerRow): void {
    for (const listener of this.#listeners) listener(row);
  }

  subscribe(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
