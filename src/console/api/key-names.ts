import type { Store } from '../../plugin/index.js';
import { CachedFor } from './cached-for.js';

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
