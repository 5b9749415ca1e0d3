import type { Json } from '../../plugin/index.js';
import type { Live } from '../../plugin/core.js';
import type { LedgerRow } from '../../state/ledger/contract.js';

/** Publish/subscribe of finished model requests, each published once its response has closed. */
export interface RequestFeed {
  publish(row: LedgerRow): void;
  /** Returns a function that unsubscribes; a listener must neither throw nor block. */
  subscribe(listener: RequestListener): () => void;
}

export type RequestListener = (row: LedgerRow) => void;

/**
 * Feed of all instances. Rows are published to another instance only while it has subscribers, in batches and
 * without their traces.
 */
export class SharedFeed implements RequestFeed {
  readonly #live: Live;
  readonly #listeners = new Set<RequestListener>();
  /** Key in the shared state; exists while this instance has subscribers. */
  readonly #key: string;
  #renewal: NodeJS.Timeout | undefined;
  /** Expiry time of each other instance with subscribers, by its key. */
  readonly #watchers = new Map<string, number>();
  #batch: LedgerRow[] = [];
  #sending: NodeJS.Timeout | undefined;

  constructor(live: Live) {
    this.#live = live;
    this.#key = `${watchersPrefix}${live.instance}`;
    for (const [key] of live.shared.entries(watchersPrefix)) this.#noteWatcher(key, true);
    live.shared.watch(watchersPrefix, (key, isWatched) => this.#noteWatcher(key, isWatched === true));
    live.messages.receive(topic, (message) => {
      for (const row of message as unknown as readonly LedgerRow[]) this.#notify(row); // as `#send` sends them
    });
  }

  publish(row: LedgerRow): void {
    this.#notify(row);
    if (!this.#isWatchedElsewhere()) return;
    const { trace: _, ...sent } = row;
    this.#batch.push(sent);
    if (this.#batch.length >= maxBatchSize) this.#send();
    else this.#sending ??= setTimeout(() => this.#send(), sendMs).unref();
  }

  subscribe(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    this.#renew();
    this.#renewal ??= setInterval(() => this.#renew(), watchMs / 2).unref();
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
    this.#live.messages.send(topic, this.#batch as unknown as Json); // a row holds only JSON values
    this.#batch = [];
  }

  #isWatchedElsewhere(): boolean {
    if (this.#watchers.size === 0) return false;
    const nowMs = performance.now();
    for (const [key, untilMs] of this.#watchers) {
      if (untilMs > nowMs) return true;
      this.#watchers.delete(key);
    }
    return false;
  }

  #renew(): void {
    this.#live.shared.set(this.#key, true, watchMs);
  }

  #noteWatcher(key: string, isWatched: boolean): void {
    if (isWatched) this.#watchers.set(key, performance.now() + watchMs);
    else this.#watchers.delete(key);
  }

  #notify(row: LedgerRow): void {
    for (const listener of this.#listeners) listener(row);
  }
}

const topic = 'requests';
const watchersPrefix = 'requests/watched/';

/** Time to live of a subscription, renewed at half of it; an instance that has died is dropped after it. */
const watchMs = 60_000;

/** Max delay of a batch, and max rows of one. */
const sendMs = 50;
const maxBatchSize = 200;
