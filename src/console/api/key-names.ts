import type { Store } from '../../plugin/index.js';
import { CachedFor } from './cached-for.js';

/** The names of keys by id, a few seconds old at most. */
export class KeyNames {
  readonly #byId: CachedFor<ReadonlyMap<string, string>>;

  constructor(keys: Store['keys'], now: () => number) {
    this.#byId = new CachedFor(() => keys.names(), { ms: freshMs, now });
  }

  /** Gives the name of an id, also of a deleted key; where it cannot be looked up, the id is the name. */
  async finder(): Promise<(id: string) => string> {
    const byId = await this.#byId.get().catch(() => new Map<string, string>());
    return (id) => byId.get(id) ?? id;
  }

  forget(): void {
    this.#byId.forget();
  }
}

const freshMs = 5000;
