import type { Clock } from '@gw2api/gateway/plugin';

/** Refuses calls for some seconds after failures in a row, then admits one at a time until one succeeds. */
export class CircuitBreaker {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #onOpen: () => void;
  #failures = 0;
  #openUntilMs = -Infinity;
  #isProbing = false;

  /** `onOpen`: called each time it begins to refuse calls. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, onOpen: () => void) {
    this.#clock = clock;
    this.#onOpen = onOpen;
  }

  /** True if a call may be made; its end must then be reported. */
  admits(): boolean {
    if (this.#failures < maxFailures) return true;
    if (this.#isProbing || this.#clock.monotonicMs() < this.#openUntilMs) return false;
    this.#isProbing = true;
    return true;
  }

  succeeded(): void {
    this.#isProbing = false;
    this.#failures = 0;
  }

  failed(): void {
    this.#isProbing = false;
    this.#failures += 1;
    if (this.#failures < maxFailures) return;
    const isOpening = this.#clock.monotonicMs() >= this.#openUntilMs;
    this.#openUntilMs = this.#clock.monotonicMs() + openMs;
    if (isOpening) this.#onOpen();
  }

  /** Reports a call that has no result. */
  abandoned(): void {
    this.#isProbing = false;
  }
}

export const maxFailures = 5;
export const openMs = 5000;
