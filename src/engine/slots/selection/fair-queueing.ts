import type { Clock, Json } from '../../../plugin/index.js';
import type { Live } from '../../../plugin/core.js';
import type { PermitQueue, Waiter } from './permit-queue.js';

export interface FairQueueingOptions {
  readonly live: Pick<Live, 'instance' | 'messages'>;
  readonly queue: PermitQueue;
  readonly clock: Clock;
  /** True if other instances hold permits of a slot. */
  isHeldElsewhere(slotId: string): boolean;
}

/** Wait of a request in another instance for a slot. */
interface Wait {
  readonly caller: string;
  readonly sinceMs: number;
  /** Start of the caller's wait for its turn. */
  readonly turnSinceMs: number;
  /** Expiry of this message. */
  readonly endsMs: number;
  /** End of the reservation for it; undefined: no permit was reserved yet. */
  reservedUntilMs: number | undefined;
}

/**
 * Fair queueing across instances: each publishes the longest waits in its queue, and later requests leave a
 * permit to an earlier one for a moment, since an instance learns first of its own released permits.
 * Requests of one caller compare their own times, those of different callers the times since their last
 * turns.
 */
export class FairQueueing {
  readonly #options: FairQueueingOptions;
  readonly #stopReceiving: () => void;
  /** Waits by instance, then by slot. */
  readonly #elsewhere = new Map<string, ReadonlyMap<string, Wait>>();
  #cancelTimer: (() => void) | undefined;

  constructor(options: FairQueueingOptions) {
    this.#options = options;
    this.#stopReceiving = options.live.messages.receive(topic, (message) => this.#merge(message));
  }

  /** True if a permit of the slot is reserved for a request of another instance that has waited longer. */
  isReservedElsewhere(slotId: string, waiter: Waiter): boolean {
    if (this.#elsewhere.size === 0) return false;
    const nowMs = this.#options.clock.now();
    const turnSinceMs = this.#options.queue.turnSinceMs(waiter);
    for (const waits of this.#elsewhere.values()) {
      const wait = waits.get(slotId);
      if (!wait || wait.endsMs <= nowMs) continue;
      const isEarlier =
        wait.caller === waiter.caller ? wait.sinceMs < waiter.sinceMs : wait.turnSinceMs < turnSinceMs;
      if (!isEarlier) continue;
      wait.reservedUntilMs ??= nowMs + reservedMs;
      if (nowMs < wait.reservedUntilMs) return true;
    }
    return false;
  }

  /** Announces that a request waits here; published if the wait lasts. */
  announceWait(): void {
    this.#cancelTimer ??= this.#options.clock.setTimer(() => this.#publish(), publishEveryMs);
  }

  close(): void {
    this.#stopReceiving();
    this.#cancelTimer?.();
  }

  #publish(): void {
    const { live, queue, clock } = this.#options;
    this.#cancelTimer = undefined;
    if (queue.size === 0) return;
    this.announceWait();
    const nowMs = clock.now();
    const waits = new Map<string, WaitMessage>();
    for (const waiter of queue.waiters())
      for (const slotId of waiter.waitsFor)
        if (!waits.has(slotId) && this.#options.isHeldElsewhere(slotId))
          waits.set(slotId, [
            slotId,
            nowMs - waiter.sinceMs,
            nowMs - queue.turnSinceMs(waiter),
            waiter.caller,
          ]);
    if (waits.size > 0) live.messages.send(topic, [live.instance, [...waits.values()]]);
  }

  #merge(message: Json): void {
    const [instance, waited] = message as unknown as WaitsMessage; // written by `#publish` of another instance
    const nowMs = this.#options.clock.now();
    const waits = waited.map(([slotId, waitedMs, turnMs, caller]): [string, Wait] => {
      const times = { sinceMs: nowMs - waitedMs, turnSinceMs: nowMs - turnMs, endsMs: nowMs + trustedMs };
      return [slotId, { caller, ...times, reservedUntilMs: undefined }];
    });
    this.#elsewhere.delete(instance);
    this.#elsewhere.set(instance, new Map(waits));
    for (const [other, known] of this.#elsewhere)
      if ([...known.values()].every(({ endsMs }) => endsMs <= nowMs)) this.#elsewhere.delete(other);
  }
}

/** Published wait, with durations instead of times, because the clocks of instances differ. */
type WaitMessage = readonly [slotId: string, waitedMs: number, turnMs: number, caller: string];
type WaitsMessage = readonly [instance: string, waits: readonly WaitMessage[]];

const topic = 'slots/waiting';

/** Interval at which waits are published: most waits are shorter. */
const publishEveryMs = 50;
const trustedMs = 200;
const reservedMs = 30;
