import { setImmediate as breath } from 'node:timers/promises';
import type { Logger, Store } from '../plugin/index.js';

export interface HousekeeperOptions {
  readonly store: Pick<Store, 'bindings' | 'responses' | 'sessions' | 'ledger'>;
  /** Days that the ledger is kept. */
  readonly keepDays: number;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly everyMs?: number;
}

/** Deletes what is over, a little at a time: what has expired, and rows of the ledger that are older than its days. */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.tidy(), options.everyMs ?? roundMs).unref();
  }

  /** One round, which no other overlaps. What fails is logged, and left to the next one. */
  tidy(): Promise<void> {
    this.#round ??= this.#tidy().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#round;
  }

  async #tidy(): Promise<void> {
    const { store, keepDays, now, log } = this.#options;
    const beforeMs = now() - keepDays * dayMs;
    try {
      for (const part of [store.bindings, store.responses, store.sessions])
        await this.#repeat(() => part.deleteExpired(stepRows));
      await this.#repeat(() => store.ledger.prune(beforeMs, stepRows));
    } catch (error) {
      log.warn({ err: error }, 'What is over could not be deleted from the store.');
    }
  }

  /** Between two steps whatever waits has its turn. */
  async #repeat(step: () => Promise<number>): Promise<void> {
    while (!this.#isClosed && (await step()) === stepRows) await breath();
  }
}

const dayMs = 86_400_000;
const roundMs = 60_000;
/** SQLite takes some milliseconds for them, in which nothing else runs. */
const stepRows = 200;
