import type { Json } from '../../plugin/index.js';
import type { SharedClock } from './shared-clock.js';

/** Which of two writes is the later one: by time, and at the same time by the number of the instance. */
export interface Version {
  readonly at: number;
  readonly tie: number;
}

export interface Known extends Version {
  readonly key: string;
  /** Undefined: it was deleted, which has to be known for a while. */
  readonly value: Json | undefined;
  /** By the clock of this instance; Infinity: never. */
  readonly expiresAtMs: number;
}

/** What one instance knows of a shared map: of each key the latest write. */
export class Replica {
  readonly #clock: SharedClock;
  readonly #known = new Map<string, Known>();
  #sweepAtSize = 1000;

  constructor(clock: SharedClock) {
    this.#clock = clock;
  }

  get(key: string): Known | undefined {
    return this.#known.get(key);
  }

  valueOf(key: string): Json | undefined {
    const known = this.#known.get(key);
    return known && known.expiresAtMs > this.#clock.nowMs ? known.value : undefined;
  }

  entries(prefix: string): readonly (readonly [string, Json])[] {
    const { nowMs } = this.#clock;
    const found: (readonly [string, Json])[] = [];
    for (const [key, { value, expiresAtMs }] of this.#known)
      if (value !== undefined && expiresAtMs > nowMs && key.startsWith(prefix)) found.push([key, value]);
    return found;
  }

  /** False where what is known is as late. */
  put(write: Known): boolean {
    const known = this.#known.get(write.key);
    if (known && !isLater(write, known)) return false;
    this.#sweep();
    this.#known.set(write.key, write);
    return true;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }

  /** All that has not expired, deletions included. */
  current(): readonly Known[] {
    const { nowMs } = this.#clock;
    return [...this.#known.values()].filter(({ expiresAtMs }) => expiresAtMs > nowMs);
  }

  /** Lets go of what has expired, whenever there is twice as much as was left the last time. */
  #sweep(): void {
    if (this.#known.size < this.#sweepAtSize) return;
    const { nowMs } = this.#clock;
    for (const [key, { expiresAtMs }] of this.#known) if (expiresAtMs <= nowMs) this.#known.delete(key);
    this.#sweepAtSize = Math.max(1000, this.#known.size * 2);
  }
}

export function isLater(one: Version, other: Version): boolean {
  return one.at > other.at || (one.at === other.at && one.tie > other.tie);
}
