import type { Binding, Logger, Store } from '../plugin/index.js';

export interface BindingsOptions {
  readonly store: Store['bindings'];
  readonly log: Logger;
  readonly now: () => number;
  /** How many sessions are kept in memory; the others are read from the store again. */
  readonly capacity?: number;
}

interface Known extends Binding {
  /** `expiresAtMs` as the store has it. */
  readonly storedMs: number;
}

/** Which session stays on which slot: a bounded cache before the store, written behind. */
export class Bindings {
  readonly #options: BindingsOptions;
  readonly #capacity: number;
  /** Least recently used first. */
  readonly #known = new Map<string, Known>();
  /** What the store does not have yet; undefined: to be deleted. */
  readonly #unwritten = new Map<string, Binding | undefined>();
  #writing: Promise<void> | undefined;

  constructor(options: BindingsOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? 10_000;
  }

  /** Brings a session's binding from the store into the cache, where it is not there. */
  async load(key: string): Promise<void> {
    if (this.#known.has(key) || this.#unwritten.has(key)) return;
    const stored = await this.#read(key);
    if (stored && !this.#known.has(key) && !this.#unwritten.has(key)) {
      this.#remember(key, { ...stored, storedMs: stored.expiresAtMs });
    }
  }

  /** The slot that a session is bound to, as far as the cache knows. */
  peek(key: string): string | undefined {
    const known = this.#known.get(key);
    return known && known.expiresAtMs > this.#options.now() ? known.slotId : undefined;
  }

  /** Binds a session, or renews it; the store hears of a renewal only after a tenth of the time to live. */
  keep(key: string, slotId: string, ttlMs: number): void {
    const known = this.#known.get(key);
    const expiresAtMs = this.#options.now() + ttlMs;
    const isStored = known?.slotId === slotId && Math.abs(expiresAtMs - known.storedMs) <= ttlMs / 10;
    this.#remember(key, { slotId, expiresAtMs, storedMs: isStored ? known.storedMs : expiresAtMs });
    if (!isStored) this.#write(key, { slotId, expiresAtMs });
  }

  drop(key: string): void {
    if (this.#known.delete(key)) this.#write(key, undefined);
  }

  /** How many sessions of the cache are bound to a slot. */
  count(slotId: string): number {
    const nowMs = this.#options.now();
    let count = 0;
    for (const known of this.#known.values())
      if (known.slotId === slotId && known.expiresAtMs > nowMs) count += 1;
    return count;
  }

  /** Resolves when the store has everything. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#capacity && oldest !== undefined) this.#known.delete(oldest);
  }

  #write(key: string, binding: Binding | undefined): void {
    this.#unwritten.delete(key);
    this.#unwritten.set(key, binding);
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > this.#capacity && oldest !== undefined) this.#unwritten.delete(oldest);
    this.#writing ??= this.#writeAll();
  }

  /** One after the other, so that the last word on a session is also the store's. */
  async #writeAll(): Promise<void> {
    for (const [key, binding] of this.#unwritten) {
      await this.#writeOne(key, binding);
      if (this.#unwritten.get(key) === binding) this.#unwritten.delete(key);
    }
    this.#writing = undefined; // at once, or what came in between would wait for somebody else
  }

  async #writeOne(key: string, binding: Binding | undefined): Promise<void> {
    const { store, log } = this.#options;
    try {
      await (binding ? store.put(key, binding) : store.delete(key));
    } catch (error) {
      log.warn({ err: error }, 'a sticky binding could not be stored; a restart will not know it');
    }
  }

  /** A store that cannot be read costs stickiness, not the request. */
  async #read(key: string): Promise<Binding | undefined> {
    try {
      return await this.#options.store.get(key);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a sticky binding could not be read');
      return undefined;
    }
  }
}
