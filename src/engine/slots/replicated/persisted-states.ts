import type { Clock, Json, Logger } from '../../../plugin/index.js';
import type { SharedMap } from '../../../plugin/core.js';
import type { StateChange, Store, StoredState } from '../../../state/store/contract/store.js';
import { Throttle } from '../timing.js';
import { fromStored, isStored, toStored } from './stored-state.js';

export interface PersistedStatesOptions {
  readonly shared: SharedMap;
  readonly store: Store['slotStates'];
  readonly log: Logger;
  readonly clock: Clock;
  /** Called for a state that was restored late, after the slots were opened. */
  onRestored(key: string, value: Json): void;
}

/**
 * Shared map that also writes slot states to the store, for a restart. Writes are throttled and batched, and
 * each writes the map's current value, so that the last instance to write stores what all instances agree
 * on.
 */
export class PersistedStates implements SharedMap {
  readonly #options: PersistedStatesOptions;
  readonly #throttle: Throttle;
  readonly #unwritten = new Set<string>();
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: PersistedStatesOptions) {
    this.#options = options;
    this.#throttle = new Throttle({ ...options, everyMs: writeEveryMs }, () => void this.flush());
  }

  get(key: string): Json | undefined {
    return this.#options.shared.get(key);
  }

  ttlMs(key: string): number | undefined {
    return this.#options.shared.ttlMs(key);
  }

  entries(prefix: string): readonly (readonly [key: string, value: Json])[] {
    return this.#options.shared.entries(prefix);
  }

  watch(prefix: string, listener: (key: string, value: Json | undefined) => void): () => void {
    return this.#options.shared.watch(prefix, listener);
  }

  set(key: string, value: Json, ttlMs?: number): void {
    this.#options.shared.set(key, value, ttlMs);
    this.#mark(key);
  }

  delete(key: string): void {
    this.#options.shared.delete(key);
    this.#mark(key);
  }

  /** Restores states from the store that no instance has; retries if the store cannot be read. */
  async load(): Promise<void> {
    for (const { key, value } of await this.#read()) this.#options.onRestored(key, value);
  }

  /** Resolves when the store has all changes, or has failed. */
  async flush(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#throttle.stop();
    this.#cancelRetry?.();
    await this.flush();
    await this.flush(); // states that arrived during the first write
  }

  async #read(): Promise<readonly StoredState[]> {
    const { store, log, clock } = this.#options;
    try {
      const states = await store.list();
      return this.#isClosed ? [] : states.flatMap((state) => this.#restore(state));
    } catch (error) {
      log.warn({ err: error }, 'Stored slot states cannot be read; retrying.');
      if (!this.#isClosed) this.#cancelRetry = clock.setTimer(() => void this.load(), retryEveryMs);
      return [];
    }
  }

  #restore(state: StoredState): readonly StoredState[] {
    const { shared, clock } = this.#options;
    const { key } = state;
    const restored = fromStored(state, clock.now());
    if (!restored || shared.get(key) !== undefined || this.#unwritten.has(key)) return [];
    shared.set(key, restored.value, restored.ttlMs);
    return [{ key, value: restored.value }];
  }

  #mark(key: string): void {
    if (!isStored(key)) return;
    this.#unwritten.add(key);
    this.#throttle.ask();
  }

  async #writeAll(): Promise<void> {
    const { store, log } = this.#options;
    const keys = [...this.#unwritten].slice(0, maxBatch);
    if (keys.length === 0) return;
    for (const key of keys) this.#unwritten.delete(key);
    try {
      await store.write(keys.map((key) => this.#change(key)));
      this.#hasFailed = false;
    } catch (error) {
      for (const key of keys) this.#unwritten.add(key);
      if (!this.#hasFailed) log.warn({ err: error }, 'Slot states cannot be stored; retrying.');
      this.#hasFailed = true;
    }
    if (this.#unwritten.size > 0) this.#throttle.ask();
  }

  #change(key: string): StateChange {
    const { shared, clock } = this.#options;
    const value = shared.get(key);
    const ttlMs = shared.ttlMs(key);
    const stored =
      value === undefined || ttlMs === undefined ? undefined : toStored(key, { value, ttlMs }, clock.now());
    return { key, value: stored?.value, ...(stored?.ttlMs !== undefined && { ttlMs: stored.ttlMs }) };
  }
}

const writeEveryMs = 1000;
const retryEveryMs = 5000;
const maxBatch = 500;
