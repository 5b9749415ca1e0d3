import type { Clock } from '../../../plugin/index.js';

/** Timer for periodic checks of running work, as long as there is any. */
export class Sweep {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #look: (nowMs: number) => void;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** `limitMs`: time limit that `look` checks; `look` calls `wake` if there is more to watch. */
  constructor(clock: Clock, limitMs: number, look: (nowMs: number) => void) {
    this.#clock = clock;
    this.#everyMs = Math.min(1000, Math.max(10, limitMs / 10));
    this.#look = look;
  }

  wake(): void {
    if (this.#isClosed) return;
    this.#cancel ??= this.#clock.setTimer(() => {
      this.#cancel = undefined;
      this.#look(this.#clock.monotonicMs());
    }, this.#everyMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }
}
