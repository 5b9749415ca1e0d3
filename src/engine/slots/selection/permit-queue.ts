import { asError } from '../../../kit/time/within.js';
import type { CallSignal } from '../../../plugin/raw/index.js';
import type { Clock, GatewayError, SlotLease } from '../../../plugin/index.js';

/** Lease, or the error if there is none. */
export type Acquired = SlotLease | GatewayError;

/** Result of an attempt; undefined: to be retried later. A promise if other instances have to be asked. */
export type Attempt = Acquired | undefined | Promise<Acquired | undefined>;

export interface Waiter {
  /** Caller whose turn the waiter uses. */
  readonly caller: string;
  /** Start of the wait, unix milliseconds. */
  readonly sinceMs: number;
  attempt(): Attempt;
  /** Ids of the slots that it waits for; none during an attempt. */
  readonly waitsFor: readonly string[];
  /** Error for a waiter that makes room for another caller. */
  displaced(): GatewayError;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: CallSignal;
}

export interface QueueOptions {
  readonly clock: Clock;
  /** True if a slot has room, as far as known here. */
  hasRoom(slotId: string): boolean;
}

interface Ticket {
  readonly waiter: Waiter;
  /** True during an attempt. */
  isAsking: boolean;
  /** True if states have changed during the attempt. */
  isOutdated: boolean;
  /** True if the timeout was reached during an attempt, whose result still counts. */
  isLate: boolean;
  readonly settle: (acquired: Acquired | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** Tickets of one caller, first come, first served. */
interface Line {
  readonly tickets: Set<Ticket>;
  /** Time of the caller's last permit, unix milliseconds. */
  servedMs: number;
}

/**
 * Queue of requests that wait for a permit. Callers take turns, so that one with many requests does not
 * block the others.
 */
export class PermitQueue {
  /** Lines by caller, the least recently served first. */
  readonly #lines = new Map<string, Line>();
  readonly #options: QueueOptions;
  #size = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Waiters in the order of their turns. */
  *waiters(): Iterable<Waiter> {
    for (const { waiter } of this.#inTurn()) yield waiter;
  }

  /** Start of a caller's wait for its turn, unix milliseconds. */
  turnSinceMs({ caller, sinceMs }: Waiter): number {
    return Math.max(sinceMs, this.#lines.get(caller)?.servedMs ?? sinceMs);
  }

  /**
   * Makes room for one more waiter of a caller; false if there is none. In a full queue, the last waiter of
   * the longest line is removed for a caller with a shorter line.
   */
  makeRoom(caller: string, capacity: number): boolean {
    if (this.#size < capacity) return true;
    const lengthOf = (line: Line | undefined): number => line?.tickets.size ?? 0;
    let longest: Line | undefined;
    for (const line of this.#lines.values()) if (lengthOf(line) > lengthOf(longest)) longest = line;
    if (lengthOf(this.#lines.get(caller)) + 1 >= lengthOf(longest)) return false;
    const last = [...(longest?.tickets ?? [])].at(-1);
    last?.settle(last.waiter.displaced());
    return true;
  }

  /** Number of waiters for this slot, which may wait for other slots too. */
  count(slotId: string): number {
    let count = 0;
    for (const { tickets } of this.#lines.values())
      for (const { waiter } of tickets) if (waiter.waitsFor.includes(slotId)) count += 1;
    return count;
  }

  /**
   * Waits for the result of an attempt, `begun` or a later one; undefined after the timeout. Rejects as soon
   * as the signal aborts.
   */
  wait(
    waiter: Waiter,
    options: WaitOptions,
    begun?: Promise<Acquired | undefined>,
  ): Promise<Acquired | undefined> {
    const { timeoutMs, signal } = options;
    return new Promise((resolve, reject) => {
      const leave = (): void => ticket.fail(asError(signal.reason));
      const end = (): void => {
        this.#remove(ticket);
        cancelTimer();
        signal.removeEventListener('abort', leave);
      };
      const ticket: Ticket = {
        waiter,
        isAsking: false,
        isOutdated: false,
        isLate: false,
        settle: (acquired) => (end(), this.#note(ticket, acquired), resolve(acquired)),
        fail: (error) => (end(), reject(error)),
      };
      const cancelTimer = this.#options.clock.setTimer(() => this.#timeOut(ticket), timeoutMs);
      this.#add(ticket);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
      if (begun) void this.#await(ticket, begun);
    });
  }

  /** Retries all waiters in turn, after states have changed. */
  wake(): void {
    for (const ticket of this.#inTurn()) this.#tryAgain(ticket);
  }

  /** Retries the waiters of a slot that may have room, as long as it has. */
  offer(slotId: string): void {
    if (this.#size === 0) return;
    for (const ticket of this.#inTurn()) {
      if (!this.#options.hasRoom(slotId)) return;
      if (ticket.waiter.waitsFor.includes(slotId)) this.#tryAgain(ticket);
    }
  }

  /** Settles all waiters with an error. */
  clear(error: GatewayError): void {
    for (const ticket of this.#inTurn()) ticket.settle(error);
  }

  /** Tickets in turn: the first of each caller, then the second of each, and so on. */
  *#inTurn(): Generator<Ticket> {
    let lines = Array.from(this.#lines.values(), ({ tickets }) => tickets.values());
    while (lines.length > 0) {
      const left: typeof lines = [];
      for (const line of lines) {
        const next = line.next();
        if (next.done) continue;
        left.push(line);
        yield next.value;
      }
      lines = left;
    }
  }

  #add(ticket: Ticket): void {
    const { caller } = ticket.waiter;
    const line = this.#lines.get(caller) ?? { tickets: new Set(), servedMs: -Infinity };
    this.#lines.set(caller, line);
    line.tickets.add(ticket);
    this.#size += 1;
  }

  #remove(ticket: Ticket): void {
    const { caller } = ticket.waiter;
    const line = this.#lines.get(caller);
    if (!line?.tickets.delete(ticket)) return;
    this.#size -= 1;
    if (line.tickets.size === 0) this.#lines.delete(caller);
  }

  #isWaiting(ticket: Ticket): boolean {
    return this.#lines.get(ticket.waiter.caller)?.tickets.has(ticket) ?? false;
  }

  /** Moves a caller that got a permit to the end of the line. */
  #note({ waiter: { caller } }: Ticket, acquired: Acquired | undefined): void {
    const line = this.#lines.get(caller);
    if (!line || !acquired || !('release' in acquired)) return;
    line.servedMs = this.#options.clock.now();
    this.#lines.delete(caller);
    this.#lines.set(caller, line);
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
      ticket.fail(asError(error)); // its caller has disconnected, or its policy threw; other waiters are not affected
    }
  }

  async #await(ticket: Ticket, attempt: Promise<Acquired | undefined>): Promise<void> {
    ticket.isAsking = true;
    try {
      this.#take(ticket, await attempt);
    } catch (error) {
      ticket.fail(asError(error));
    }
  }

  /** Ends an attempt; returns the permit of an absent waiter. */
  #take(ticket: Ticket, acquired: Acquired | undefined): void {
    ticket.isAsking = false;
    const { isOutdated } = ticket;
    ticket.isOutdated = false;
    if (!this.#isWaiting(ticket)) return giveBack(acquired);
    if (acquired || ticket.isLate) ticket.settle(acquired);
    else if (isOutdated) this.#tryAgain(ticket);
  }

  #timeOut(ticket: Ticket): void {
    if (ticket.isAsking) ticket.isLate = true;
    else ticket.settle(undefined);
  }
}

function giveBack(acquired: Acquired | undefined): void {
  if (acquired && 'release' in acquired) acquired.release();
}
