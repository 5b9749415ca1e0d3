import type { CacheStats } from '../../plugin/index.js';
import { BoundedMap, type Bounds } from '../memory/bounded-map.js';

/** What a write leaves behind; undefined: nothing, it was deleted. */
interface Late<Value> {
  readonly value: Value | undefined;
}

/** The last write of each key that a store was not there for. Where there are too many, the oldest are lost. */
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

  /** Brings them to the store; what is written meanwhile comes after. Rejects where the store is away again. */
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
