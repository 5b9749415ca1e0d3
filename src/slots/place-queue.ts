import type { GatewayError, SlotLease } from '../plugin/index.js';
import type { SetTimer } from './timers.js';
import { asError } from './until-aborted.js';

/** A place, or why there is none. */
export type Placed = SlotLease | GatewayError;

export interface Waiter {
  /** Undefined: to be asked again later. */
  attempt(): Placed | undefined;
  waitsFor(slotId: string): boolean;
}

export interface Patience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Ticket {
  readonly waiter: Waiter;
  readonly settle: (placed: Placed | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** Requests that wait for a place, first come, first served. */
export class PlaceQueue {
  readonly #tickets = new Set<Ticket>();
  readonly #setTimer: SetTimer;

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  get size(): number {
    return this.#tickets.size;
  }

  /** How many wait for a place in this slot, among others. */
  count(slotId: string): number {
    return [...this.#tickets].filter(({ waiter }) => waiter.waitsFor(slotId)).length;
  }

  /** What an attempt of the waiter brings; undefined when its time is over. Rejects as soon as the signal aborts. */
  wait(waiter: Waiter, { timeoutMs, signal }: Patience): Promise<Placed | undefined> {
    return new Promise((resolve, reject) => {
      const leave = (): void => ticket.fail(asError(signal.reason));
      const cancelTimer = this.#setTimer(() => ticket.settle(undefined), timeoutMs);
      const end = (): void => {
        this.#tickets.delete(ticket);
        cancelTimer();
        signal.removeEventListener('abort', leave);
      };
      const ticket: Ticket = {
        waiter,
        settle: (placed) => (end(), resolve(placed)),
        fail: (error) => (end(), reject(error)),
      };
      this.#tickets.add(ticket);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  /** States have changed: lets everyone try again, in the order in which they came. */
  wake(): void {
    for (const ticket of this.#tickets) tryAgain(ticket);
  }

  /** A slot has room: lets those who wait for it try again, for as long as it has. */
  offer(slot: { readonly id: string; readonly hasRoom: boolean }): void {
    for (const ticket of this.#tickets) {
      if (!slot.hasRoom) return;
      if (ticket.waiter.waitsFor(slot.id)) tryAgain(ticket);
    }
  }

  /** Sends everyone away. */
  clear(error: GatewayError): void {
    for (const ticket of this.#tickets) ticket.settle(error);
  }
}

function tryAgain({ waiter, settle, fail }: Ticket): void {
  try {
    const placed = waiter.attempt();
    if (placed) settle(placed);
  } catch (error) {
    fail(asError(error)); // its caller has left, or its policy threw: nobody else's business
  }
}
