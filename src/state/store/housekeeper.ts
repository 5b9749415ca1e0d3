import { setImmediate as breath } from 'node:timers/promises';
import { errorTextDays } from '../ledger/error-texts.js';
import { every, dayMs } from '../../kit/time/clock.js';
import type { Clock, Logger } from '../../plugin/index.js';
import type { Live } from '../../plugin/core.js';
import type { WholeStore } from './contract/store.js';
import { type StepResult } from '../step-result.js';

interface HousekeeperOptions {
  readonly store: Pick<
    WholeStore,
    | 'bindings'
    | 'responses'
    | 'sessions'
    | 'slotStates'
    | 'spaces'
    | 'ledger'
    | 'errorTexts'
    | 'audit'
    | 'slotHistory'
    | 'reclaim'
    | 'sumPairs'
  >;
  /** Live state shared with the other instances: one does the work for all. */
  readonly live: Pick<Live, 'shared' | 'withLock'>;
  /** Days that the ledger and the audit log are kept. */
  readonly keepDays: { readonly ledger: number; readonly audit: number };
  readonly log: Logger;
  readonly clock: Clock;
  readonly everyMs?: number;
}

/**
 * Deletes expired entries and old ledger rows, in small steps, and returns the space to the file system. Sums the ended
 * hours of the ledger.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #stop: () => void;
  #round: Promise<void> | undefined;
  #work: Promise<unknown> | undefined;
  #isClosed = false;
  #lost: AbortSignal | undefined;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#stop = every(options.clock, options.everyMs ?? roundMs, () => void this.cleanUp());
  }

  /**
   * Runs one round, unless another instance has just done so; rounds do not overlap. Failures are logged and
   * left to the next round.
   */
  cleanUp(): Promise<void> {
    this.#round ??= this.#cleanUpOnce().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#work; // a round that still waits for the lock is not awaited
  }

  /** True once closed, or once another instance does this work. */
  get #isStopped(): boolean {
    return this.#isClosed || this.#lost?.aborted === true;
  }

  async #cleanUpOnce(): Promise<void> {
    const { live, everyMs = roundMs } = this.#options;
    await live.withLock('housekeeping', async (lost) => {
      this.#lost = lost;
      if (this.#isClosed || live.shared.get(roundKey) !== undefined) return;
      // Shorter than the interval of the rounds, so that the first instance to come does the next one.
      live.shared.set(roundKey, true, everyMs / 2);
      const work = this.#cleanUp().then(async (isClean) => (await this.#sumPairs()) && isClean);
      this.#work = work;
      if (!(await work)) live.shared.delete(roundKey);
    });
  }

  /** Returns true if everything could be deleted. */
  async #cleanUp(): Promise<boolean> {
    const { store, keepDays, clock, log } = this.#options;
    const before = (days: number): number => clock.now() - days * dayMs;
    try {
      for (const part of [store.bindings, store.responses, store.sessions, store.slotStates, store.spaces])
        await this.#repeat(() => part.deleteExpired(stepRows));
      await this.#repeat(() => store.ledger.prune(before(keepDays.ledger), stepRows));
      await this.#repeat(() => store.errorTexts.prune(before(errorTextDays(keepDays.ledger)), stepRows));
      await this.#repeat(() => store.audit.prune(before(keepDays.audit), stepRows));
      await this.#repeat(() => store.slotHistory.prune(before(historyDays), stepRows));
      await this.#repeat(async () => store.reclaim?.(stepRows) ?? { isDone: true });
      return true;
    } catch (error) {
      log.warn({ err: error }, 'Expired entries could not be deleted from the store.');
      return false;
    }
  }

  /** Sums ended hours, including those that an older version has left. Returns true if it succeeded. */
  async #sumPairs(): Promise<boolean> {
    const { store, clock, log } = this.#options;
    const beforeMs = clock.now() - lateMs;
    try {
      for (let hours = 0; hours < maxHours && !this.#isStopped; hours += 1) {
        const { isDone } = (await store.sumPairs?.(beforeMs, 1)) ?? { isDone: true };
        if (isDone) break; // close waits for this one hour
        await breath();
      }
      return true;
    } catch (error) {
      log.warn(
        { err: error },
        'Hours of the ledger could not be summed; their requests are counted one by one.',
      );
      return false;
    }
  }

  /** Repeats a step until it is done; yields to the event loop between two steps. */
  async #repeat(step: () => Promise<StepResult>): Promise<void> {
    while (!this.#isStopped && !(await step()).isDone) await breath();
  }
}

/** Key that is set while the last round, of any instance, is recent. */
const roundKey = 'housekeeper:round';

/** Days that the history of slots is kept. */
const historyDays = 30;
const roundMs = 60_000;
/** Time after an hour for the rows of its last requests to arrive. */
const lateMs = 10 * 60_000;
/** Hours of one round: after an update there are some thousand to sum. */
const maxHours = 240;
/** Rows, or pages, of one step, during which SQLite writes nothing else for some milliseconds. */
const stepRows = 200;
