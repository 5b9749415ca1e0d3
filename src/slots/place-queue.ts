import type { CallSignal, GatewayError, SlotLease } from '../plugin/index.js';
import type { SetTimer } from './timers.js';
import { asError } from './until-aborted.js';

/** A place, or why there is none. */
export type Placed = SlotLease | GatewayError;

/** Undefined: to be tried again later. A promise where the other instances have to be asked. */
export type Attempt = Placed | undefined | Promise<Placed | undefined>;

export interface Waiter {
  /** Since when it has wanted a place, unix milliseconds. */
  readonly sinceMs: number;
  attempt(): Attempt;
  /** The ids of the slots that it waits for; none while an attempt is under way. */
  readonly waitsFor: readonly string[];
}

export interface Patience {
  readonly timeoutMs: number;
  readonly signal: CallSignal;
}

export interface QueueOptions {
  readonly setTimer: SetTimer;
  /** Whether a slot has room, as far as it is known. */
  hasRoom(slotId: string): boolean;
}

interface Ticket {
  readonly waiter: Waiter;
  /** An attempt is under way. */
  isAsking: boolean;
  /** What it may go by has changed meanwhile. */
  isOutdated: boolean;
  /** Its time was over while an attempt was under way, whose outcome still counts. */
  isLate: boolean;
  readonly settle: (placed: Placed | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** Requests that wait for a place, first come, first served. */
export class PlaceQueue {
  readonly #tickets = new Set<Ticket>();
  readonly #options: QueueOptions;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#tickets.size;
  }

  /** Who waits, in the order in which they came. */
  *waiters(): Iterable<Waiter> {
    for (const { waiter } of this.#tickets) yield waiter;
  }

  /** How many wait for a place in this slot, among others. */
  count(slotId: string): number {
    let count = 0;
    for (const { waiter } of this.#tickets) if (waiter.waitsFor.includes(slotId)) count += 1;
    return count;
  }

  /**
   * What an attempt of the waiter brings, that of `begun` or a later one; undefined when its time is over. Rejects as
   * soon as the signal aborts.
   */
  wait(waiter: Waiter, patience: Patience, begun?: Promise<Placed | undefined>): Promise<Placed | undefined> {
    const { timeoutMs, signal } = patience;
    return new Promise((resolve, reject) => {
      const leave = (): void => ticket.fail(asError(signal.reason));
      const end = (): void => {
        this.#tickets.delete(ticket);
        cancelTimer();
        signal.removeEventListener('abort', leave);
      };
      const ticket: Ticket = {
        waiter,
        isAsking: false,
        isOutdated: false,
        isLate: false,
        settle: (placed) => (end(), resolve(placed)),
        fail: (error) => (end(), reject(error)),
      };
      const cancelTimer = this.#options.setTimer(() => this.#timeOut(ticket), timeoutMs);
      this.#tickets.add(ticket);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
      if (begun) void this.#await(ticket, begun);
    });
  }

  /** States have changed: lets everyone try again, in the order in which they came. */
  wake(): void {
    for (const ticket of this.#tickets) this.#tryAgain(ticket);
  }

  /** A slot may have room: lets those who wait for it try again, for as long as it has. */
  offer(slotId: string): void {
    for (const ticket of this.#tickets) {
      if (!this.#options.hasRoom(slotId)) return;
      if (ticket.waiter.waitsFor.includes(slotId)) this.#tryAgain(ticket);
    }
  }

  /** Sends everyone away. */
  clear(error: GatewayError): void {
    for (const ticket of this.#tickets) ticket.settle(error);
  }

  #tryAgain(ticket: Ticket): void {
    if (ticket.isAsking) {
      ticket.isOutdated = true;
      return;
    }
    try {
      const attempt = ticket.waiter.attempt();
      if (attempt instanceof Promise) void this.#await(ticket, attempt);
      else if (attempt) ticket.settle(attempt);
    } catch (error) {
      ticket.fail(asError(error)); // its caller has left, or its policy threw: nobody else's business
    }
  }

  async #await(ticket: Ticket, attempt: Promise<Placed | undefined>): Promise<void> {
    ticket.isAsking = true;
    try {
      this.#take(ticket, await attempt);
    } catch (error) {
      ticket.fail(asError(error));
    }
  }

  /** A place that comes when its waiter has gone is given back. */
  #take(ticket: Ticket, placed: Placed | undefined): void {
    ticket.isAsking = false;
    const { isOutdated } = ticket;
    ticket.isOutdated = false;
    if (!this.#tickets.has(ticket)) return giveBack(placed);
    if (placed || ticket.isLate) ticket.settle(placed);
    else if (isOutdated) this.#tryAgain(ticket);
  }

  #timeOut(ticket: Ticket): void {
    if (ticket.isAsking) ticket.isLate = true;
    else ticket.settle(undefined);
  }
}

function giveBack(placed: Placed | undefined): void {
  if (placed && 'release' in placed) placed.release();
}
