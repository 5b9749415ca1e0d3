import type { Json, LedgerRow, Live } from '../../plugin/index.js';

/** Tells of each request to a model once its response has closed. */
export interface RequestFeed {
  publish(row: LedgerRow): void;
  /** Gives what ends the subscription; a listener must neither throw nor wait. */
  subscribe(listener: RequestListener): () => void;
}

export type RequestListener = (row: LedgerRow) => void;

/**
 * The feed of all instances. What ends here is told to the others only while somebody listens there, many rows in one
 * message and without their traces.
 */
export class SharedFeed implements RequestFeed {
  readonly #live: Live;
  readonly #listeners = new Set<RequestListener>();
  /** There while somebody listens here. */
  readonly #key: string;
  #renewal: NodeJS.Timeout | undefined;
  /** Until when each of the others is told. */
  readonly #told = new Map<string, number>();
  #batch: LedgerRow[] = [];
  #sending: NodeJS.Timeout | undefined;

  constructor(live: Live) {
    this.#live = live;
    this.#key = `${watchersPrefix}${live.instance}`;
    for (const [key] of live.shared.entries(watchersPrefix)) this.#hear(key, true);
    live.shared.watch(watchersPrefix, (key, isWatched) => this.#hear(key, isWatched === true));
    live.messages.receive(topic, (message) => {
      for (const row of message as unknown as readonly LedgerRow[]) this.#tell(row); // as `#send` sends them
    });
  }

  publish(row: LedgerRow): void {
    this.#tell(row);
    if (!this.#isWatchedElsewhere()) return;
    const { trace: _, ...told } = row;
    this.#batch.push(told);
    if (this.#batch.length >= mostAtOnce) this.#send();
    else this.#sending ??= setTimeout(() => this.#send(), sendMs).unref();
  }

  subscribe(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    this.#watch();
    this.#renewal ??= setInterval(() => this.#watch(), watchMs / 2).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#renewal);
      this.#renewal = undefined;
      this.#live.shared.delete(this.#key);
    };
  }

  #send(): void {
    clearTimeout(this.#sending);
    this.#sending = undefined;
    this.#live.messages.send(topic, this.#batch as unknown as Json); // nothing but JSON is in a row
    this.#batch = [];
  }

  #isWatchedElsewhere(): boolean {
    if (this.#told.size === 0) return false;
    const nowMs = performance.now();
    for (const [key, untilMs] of this.#told) {
      if (untilMs > nowMs) return true;
      this.#told.delete(key);
    }
    return false;
  }

  #watch(): void {
    this.#live.shared.set(this.#key, true, watchMs);
  }

  #hear(key: string, isWatched: boolean): void {
    if (isWatched) this.#told.set(key, performance.now() + watchMs);
    else this.#told.delete(key);
  }

  #tell(row: LedgerRow): void {
    for (const listener of this.#listeners) listener(row);
  }
}

const topic = 'requests';
const watchersPrefix = 'requests/watched/';

/** How long an instance that has gone is still told. */
const watchMs = 60_000;

/** How long a row may wait for others to go with it, and how many go at once. */
const sendMs = 50;
const mostAtOnce = 200;
