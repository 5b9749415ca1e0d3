import type { Json } from '../../../plugin/index.js';
import { Throttle, type ThrottleOptions } from '../timing.js';

/** Published value of a register; the higher serial is newer. */
export interface Stamped<Value extends Json> {
  readonly [field: string]: Json;
  readonly value: Value;
  readonly serial: number;
}

export interface RegisterOptions<Value extends Json> {
  readonly now: () => number;
  readonly publish: (stamped: Stamped<Value>) => void;
  /** Throttle for values that may change with every call; default: none. */
  readonly throttle?: ThrottleOptions;
  /** True if `a` wins over `b` at the same serial; all instances must decide alike. */
  readonly wins?: (a: Value, b: Value) => boolean;
}

/** Last-writer-wins register shared by all instances. */
export class LwwRegister<Value extends Json> {
  readonly #options: RegisterOptions<Value>;
  readonly #throttle: Throttle | undefined;
  #value: Value;
  #serial = 0;

  constructor(first: Value, options: RegisterOptions<Value>) {
    this.#value = first;
    this.#options = options;
    this.#throttle = options.throttle && new Throttle(options.throttle, () => this.#publish());
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (isSame(value, this.#value)) return;
    this.#serial = nextSerial(this.#serial, this.#options.now());
    this.amend(value);
  }

  /** Replaces the value known here under its serial: a newer one of another instance stays. */
  amend(value: Value): void {
    this.#value = value;
    this.republish();
  }

  republish(): void {
    if (this.#throttle) this.#throttle.ask();
    else this.#publish();
  }

  /** Merges the value of another instance; publishes the own one again if that is newer. */
  merge({ value, serial }: Stamped<Value>): void {
    if (isSame(value, this.#value) && serial === this.#serial) return;
    const { wins = hasGreaterText } = this.#options;
    const own = { serial: this.#serial, wins: wins(this.#value, value) };
    if (isNewer(own, serial)) return this.republish();
    this.#throttle?.forget();
    this.#value = value;
    this.#serial = serial;
  }

  stop(): void {
    this.#throttle?.stop();
  }

  #publish(): void {
    this.#options.publish({ value: this.#value, serial: this.#serial });
  }
}

/** Serial of a new write: the time, but always above the serial known here. */
export function nextSerial(known: number | undefined, nowMs: number): number {
  return Math.max(nowMs, (known ?? 0) + 1);
}

/** True if the own write is newer; `wins` decides between two writes of the same millisecond. */
export function isNewer(own: { readonly serial: number; readonly wins: boolean }, serial: number): boolean {
  return own.serial === serial ? own.wins : own.serial > serial;
}

function hasGreaterText(a: Json, b: Json): boolean {
  return JSON.stringify(a) > JSON.stringify(b);
}

function isSame(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
