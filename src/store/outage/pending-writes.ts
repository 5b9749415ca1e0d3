import type { CacheStats } from '../../plugin/index.js';
import { BoundedMap, type Bounds } from '../memory/bounded-map.js';

/** Last write of one key; an undefined value is a delete. */
interface Late<Value> {
  readonly value: Value | undefined;
}

/** Buffer of the last write of each key while the store is down; drops the oldest if full. */
export class PendingWrites<Value> {
  readonly #kept: BoundedMap<Late<Value>>;
  readonly #write: (key: string, value: Value | undefined) => Promise<unknown>;
  #draining: Promise<void> | undefined;

  constructor(
    bounds: Omit<Bounds<Value>, 'dropped'>,
    write: (key: string, value: Value | undefined) => Promise<unknown>,
  ) {
    const { weigh = () => 0, ...rest } = bounds;
    this.#kept = new BoundedMap<Late<Value>>({
      ...rest,
      weigh: ({ value }) => (value === undefined ? 0 : weigh(value)),
    });
    this.#write = write;
  }

  get fill(): CacheStats {
    return this.#kept.fill;
  }

  keep(key: string, value: Value | undefined): void {
    this.#kept.set(key, { value });
  }

  get(key: string): Late<Value> | undefined {
    return this.#kept.get(key);
  }

  /** Drains the buffer to the store, later writes included. Rejects if the store is down again. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  async #drain(): Promise<void> {
    for (let [next] = this.#kept.entries(); next; [next] = this.#kept.entries()) {
      const [key, late] = next;
      await this.#write(key, late.value);
      if (this.#kept.get(key) === late) this.#kept.delete(key);
    }
  }
}
