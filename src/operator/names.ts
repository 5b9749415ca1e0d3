import type { PluginStore } from '../plugin/core.js';
import { CachedFor } from './cached-for.js';

/** Cache of the names of keys and teams by id, refreshed every few seconds. */
export class Names {
  readonly #key: CachedNames;
  readonly #team: CachedNames;

  constructor({ keys, teams }: Pick<PluginStore, 'keys' | 'teams'>, now: () => number) {
    this.#key = new CachedFor(() => keys.names(), { ms: freshMs, now });
    this.#team = new CachedFor(() => teams.names(), { ms: freshMs, now });
  }

  /** Lookup from the id of a key to its name. */
  ofKeys(): Promise<NameOf> {
    return finder(this.#key);
  }

  /** Lookup from the id of a team to its name. */
  ofTeams(): Promise<NameOf> {
    return finder(this.#team);
  }

  forget(): void {
    this.#key.forget();
    this.#team.forget();
  }
}

type NameOf = (id: string) => string;
type CachedNames = CachedFor<ReadonlyMap<string, string>>;

/** Includes deleted ones; if the store cannot be read, the id is the name. */
async function finder(names: CachedNames): Promise<NameOf> {
  const byId = await names.get().catch(() => new Map<string, string>());
  return (id) => byId.get(id) ?? id;
}

const freshMs = 5000;
