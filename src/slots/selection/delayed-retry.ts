import type { SetTimer } from '../timers.js';

/** Delayed retry of a slot, one for all requests in the meantime. */
export class DelayedRetry {
  readonly #setTimer: SetTimer;
  readonly #look: (slotId: string) => void;
  readonly #timers = new Map<string, () => void>();

  constructor(setTimer: SetTimer, look: (slotId: string) => void) {
    this.#setTimer = setTimer;
    this.#look = look;
  }

  at(slotId: string): void {
    if (this.#timers.has(slotId)) return;
    const look = (): void => {
      this.#timers.delete(slotId);
      this.#look(slotId);
    };
    this.#timers.set(slotId, this.#setTimer(look, inMs));
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}

const inMs = 25;
