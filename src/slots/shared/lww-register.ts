import type { Json } from '../../plugin/index.js';
import { Throttle, type ThrottleOptions } from './throttle.js';

/** A value as the instances tell each other of it; the one with the higher serial is the newer one. */
export interface Told<Value extends Json> {
  readonly [field: string]: Json;
  readonly value: Value;
  readonly serial: number;
}

/** What was seen last, whichever instance saw it. It may change with every call, so that not each change is told. */
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

  /** The same in all instances, also where two have seen something in the same millisecond. */
  #isNewerThan(value: Value, serial: number): boolean {
    if (this.#serial !== serial) return this.#serial > serial;
    return JSON.stringify(this.#value) > JSON.stringify(value);
  }
}

function isSame(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
