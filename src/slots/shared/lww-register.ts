import type { Json } from '../../plugin/index.js';
import { Throttle, type ThrottleOptions } from './throttle.js';

/** Published value of a register; the higher serial is newer. */
export interface Told<Value extends Json> {
  readonly [field: string]: Json;
  readonly value: Value;
  readonly serial: number;
}

/**
 * Last-writer-wins register shared by all instances. Publishes through a throttle, because the value may
 * change with every call.
 */
export class LwwRegister<Value extends Json> {
  readonly #now: () => number;
  readonly #pace: Throttle;
  #value: Value;
  #serial = 0;

  constructor(first: Value, options: ThrottleOptions, tell: (told: Told<Value>) => void) {
    this.#value = first;
    this.#now = options.now;
    this.#pace = new Throttle(options, () => tell({ value: this.#value, serial: this.#serial }));
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (isSame(value, this.#value)) return;
    this.#value = value;
    this.#serial = Math.max(this.#now(), this.#serial + 1);
    this.#pace.ask();
  }

  hear({ value, serial }: Told<Value>): void {
    if (isSame(value, this.#value) && serial === this.#serial) return;
    if (this.#isNewerThan(value, serial)) return this.#pace.ask();
    this.#pace.forget();
    this.#value = value;
    this.#serial = serial;
  }

  stop(): void {
    this.#pace.stop();
  }

  /**
   * True if the own value is newer. All instances decide alike, even for two values of the same millisecond.
   */
  #isNewerThan(value: Value, serial: number): boolean {
    if (this.#serial !== serial) return this.#serial > serial;
    return JSON.stringify(this.#value) > JSON.stringify(value);
  }
}

function isSame(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
