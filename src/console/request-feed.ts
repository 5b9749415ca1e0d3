import type { Json, LedgerRow, Live } from '../plugin/index.js';

/** Tells of each request to a model once its response has closed. */
export interface RequestFeed {
  publish(row: LedgerRow): void;
  /** Gives what ends the subscription; a listener must neither throw nor wait. */
  subscribe(listener: RequestListener): () => void;
}

export type RequestListener = (row: LedgerRow) => void;

/** The feed of all instances. What ends here is told to the others only while somebody listens there. */
export class SharedFeed implements RequestFeed {
  readonly #live: Live;
  readonly #listeners = new Set<RequestListener>();
  /** There while somebody listens here. */
  readonly #key: string;
  #renewal: NodeJS.Timeout | undefined;
  /** Until when each of the others is told. */
  readonly #told = new Map<string, number>();

  constructor(live: Live) {
    this.#live = live;
    this.#key = `${watchersPrefix}${live.instance}`;
    for (const [key] of live.shared.entries(watchersPrefix)) this.#hear(key, true);
    live.shared.watch(watchersPrefix, (key, isWatched) => this.#hear(key, isWatched === true));
    live.messages.receive(topic, (row) => this.#tell(row as unknown as LedgerRow)); // as `publish` sends it
  }

  publish(row: LedgerRow): void {
    this.#tell(row);
    const nowMs = performance.now();
    for (const untilMs of this.#told.values()) {
      if (untilMs < nowMs) continue;
      this.#live.messages.send(topic, row as unknown as Json); // nothing but JSON is in a row
      return;
    }
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
