import { StoreBusyError } from '../../store-error.js';

/** Max connections of a process if the config has no `store.pool`. */
export const defaultConnections = 10;

/** Kind of call that needs a connection: a search of the console waits for all requests, and leaves them one place. */
export type Asker = 'request' | 'search';

/** Releases a place. */
export type Leave = () => void;

interface Waiting {
  readonly resolve: (leave: Leave) => void;
  readonly timer: NodeJS.Timeout;
}

/** Places of a connection pool: a semaphore with priorities, whose waiting is bounded in number and time. */
export class Places {
  /** Number of places, which may change. */
  readonly #capacity: () => number;
  readonly #maxWaitMs: number;
  readonly #waiting: Readonly<Record<Asker, Set<Waiting>>> = { request: new Set(), search: new Set() };
  #taken = 0;
  #searching = 0;

  constructor(capacity: () => number, maxWaitMs: number) {
    this.#capacity = capacity;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Takes a place, or waits for one. Throws a StoreBusyError if too many wait, and rejects with it after the time. */
  take(asker: Asker): Leave | Promise<Leave> {
    if (this.#hasPlace(asker)) return this.#give(asker);
    const waiting = this.#waiting[asker];
    if (waiting.size >= maxWaiting) throw new StoreBusyError(busy);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(entry);
        reject(new StoreBusyError(busy));
      };
      const entry = { resolve, timer: setTimeout(giveUp, this.#maxWaitMs) };
      waiting.add(entry);
    });
  }

  #hasPlace(asker: Asker): boolean {
    const capacity = this.#capacity();
    if (this.#taken >= capacity) return false;
    return (
      asker === 'request' || (this.#waiting.request.size === 0 && this.#searching < Math.max(1, capacity - 1))
    );
  }

  #give(asker: Asker): Leave {
    this.#taken += 1;
    if (asker === 'search') this.#searching += 1;
    return () => {
      this.#taken -= 1;
      if (asker === 'search') this.#searching -= 1;
      this.#serve('request');
      this.#serve('search');
    };
  }

  #serve(asker: Asker): void {
    const waiting = this.#waiting[asker];
    for (const entry of waiting) {
      if (!this.#hasPlace(asker)) return;
      waiting.delete(entry);
      clearTimeout(entry.timer);
      entry.resolve(this.#give(asker));
    }
  }
}

const maxWaiting = 10_000;
const busy = 'All connections to PostgreSQL are in use.';
