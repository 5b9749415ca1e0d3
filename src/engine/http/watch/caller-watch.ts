import type { Clock } from '../../../plugin/index.js';
import { Sweep } from './sweep.js';

/** Answer on its way to a caller, over HTTP or a WebSocket. */
export interface Delivery {
  /** Bytes that wait until the caller's socket takes them. */
  readonly waitingBytes: number;
  /** Bytes that the socket has taken so far. */
  readonly takenBytes: number;
  /** Ends the connection; drops the waiting bytes. */
  cut(): void;
}

export interface CallerLimits {
  /** Timeout for a caller to take 16 kB of an answer of which more waits; 0: no limit. */
  readonly callerIdleTimeoutMs: number;
  /** Called for each answer that was ended. */
  readonly onIdleCaller: () => void;
}

/** Position of an answer when its caller last read from it. */
interface Progress {
  sinceMs: number;
  takenBytes: number;
}

const minTakenBytes = 16 * 1024;

/** Ends answers whose callers do not read them, to free their place and memory. */
export class CallerWatch {
  readonly #deliveries: () => Iterable<Delivery>;
  readonly #limits: CallerLimits;
  readonly #progress = new WeakMap<Delivery, Progress>();
  readonly #sweep: Sweep;

  constructor(deliveries: () => Iterable<Delivery>, limits: CallerLimits, clock: Clock) {
    this.#deliveries = deliveries;
    this.#limits = limits;
    this.#sweep = new Sweep(clock, limits.callerIdleTimeoutMs, (nowMs) => this.#look(nowMs));
  }

  /** Checks the answers periodically until none is in progress; called for each one. */
  wake(): void {
    if (this.#limits.callerIdleTimeoutMs > 0) this.#sweep.wake();
  }

  close(): void {
    this.#sweep.close();
  }

  #look(nowMs: number): void {
    for (const delivery of this.#deliveries()) {
      this.wake();
      if (!this.#isIdle(delivery, nowMs)) continue;
      delivery.cut();
      this.#limits.onIdleCaller();
    }
  }

  #isIdle(delivery: Delivery, nowMs: number): boolean {
    if (delivery.waitingBytes === 0) {
      this.#progress.delete(delivery);
      return false;
    }
    const { takenBytes } = delivery;
    const progress = this.#progress.get(delivery);
    if (progress && takenBytes - progress.takenBytes < minTakenBytes)
      return nowMs - progress.sinceMs >= this.#limits.callerIdleTimeoutMs;
    this.#progress.set(delivery, { sinceMs: nowMs, takenBytes });
    return false;
  }
}
