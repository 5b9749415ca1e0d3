import type { Json } from '../../plugin/index.js';

/** Published rejection state of an account; the higher serial is newer. */
export interface ToldRejection {
  readonly [field: string]: Json;
  readonly isRejected: boolean;
  readonly serial: number;
}

/**
 * Rejection of an account's credential by its upstream, as a last-writer-wins register. At the same serial,
 * the end of the rejection wins.
 */
export class Rejection {
  readonly #tell: (told: ToldRejection) => void;
  #serial = 0;
  #isRejected = false;

  constructor(tell: (told: ToldRejection) => void) {
    this.#tell = tell;
  }

  get isRejected(): boolean {
    return this.#isRejected;
  }

  begin(nowMs: number): void {
    this.#serial = Math.max(nowMs, this.#serial + 1);
    this.#isRejected = true;
    this.#tell(this.#told());
  }

  /** Ends the rejection known here; a newer one of another instance stays. */
  end(): void {
    if (!this.#isRejected) return;
    this.#isRejected = false;
    this.#tell(this.#told());
  }

  tellAgain(): void {
    this.#tell(this.#told());
  }

  hear({ isRejected, serial }: ToldRejection): void {
    const isOlder = serial < this.#serial || (serial === this.#serial && isRejected && !this.#isRejected);
    if (isOlder) return this.#tell(this.#told());
    this.#serial = serial;
    this.#isRejected = isRejected;
  }

  #told(): ToldRejection {
    return { isRejected: this.#isRejected, serial: this.#serial };
  }
}
