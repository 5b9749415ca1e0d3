import type { Store } from '../plugin/index.js';
import { Remembered } from './remembered.js';

/** The names of keys by id, a few seconds old at most. */
export class KeyNames {
  readonly #byId: Remembered<ReadonlyMap<string, string>>;

  constructor(keys: Store['keys'], now: () => number) {
    const read = async () => new Map((await keys.list()).map(({ id, name }) => [id, name]));
    this.#byId = new Remembered(read, { ms: freshMs, now });
  }

  /** What gives the name of an id; of a key that is gone, or cannot be looked up, its id is the name. */
  async finder(): Promise<(id: string) => string> {
    const byId = await this.#byId.get().catch(() => new Map<string, string>());
    return (id) => byId.get(id) ?? id;
  }

  forget(): void {
    this.#byId.forget();
  }
}

const freshMs = 5000;
