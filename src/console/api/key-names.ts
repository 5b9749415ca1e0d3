import type { Store } from '../../plugin/internal.js';

/** Cache of the names of keys by id, refreshed every few seconds. */
export class KeyNames {
  readonly #byId: CachedFor<ReadonlyMap<string, string>>;

  constructor(keys: Store['keys'], now: () => number) {
    this.#byId = new CachedFor(() => keys.names(), { ms: freshMs, now });
  }

  /**
   * Returns a lookup from id to name, also for deleted keys; if the store cannot be read, the id is the name.
   */
  async finder(): Promise<(id: string) => string> {
    const byId = await this.#byId.get().catch(() => new Map<string, string>());
    return (id) => byId.get(id) ?? id;
  }

  forget(): void {
    this.#byId.forget();
  }
}

const freshMs = 5000;

/** Cache of one value for `ms` milliseconds; a failed read is not cached, and `forget` clears the value. */
export class CachedFor<Value> {
  readonly #read: () => Promise<Value>;
  readonly #ms: number;
  readonly #now: () => number;
  #value: Promise<Value> | undefined;
  #atMs = -Infinity;

  constructor(read: () => Promise<Value>, { ms, now }: { readonly ms: number; readonly now: () => number }) {
    this.#read = read;
    this.#ms = ms;
    this.#now = now;
  }

  get(): Promise<Value> {
    if (this.#value && this.#now() - this.#atMs < this.#ms) return this.#value;
    this.#atMs = this.#now();
    const value = this.#read();
    value.catch(() => this.forget());
    return (this.#value = value);
  }

  forget(): void {
    this.#value = undefined;
  }
}
