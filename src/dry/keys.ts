import { issueKey } from '../keys/keys.js';
import { tokenWindow, windowLimits, type Clock, type Meters, type Store } from '../plugin/internal.js';
import type { DryRequest } from './outcome.js';
import type { KeyTerms, UsedLimits } from './settings.js';
import { masterKey } from './world.js';

/** Name of the key that may use `/admin` and the console's API. */
export const masterName = 'master';

/** Name of the key of requests that name none. */
export const defaultName = 'test';

interface Surroundings {
  readonly store: Pick<Store['keys'], 'put'>;
  readonly meters: Pick<Meters, 'open'>;
  readonly clock: Clock;
}

/** Keys of a dry run by name, each issued when it is first used. */
export class DryKeys {
  readonly #terms: Readonly<Record<string, KeyTerms>>;
  readonly #store: Pick<Store['keys'], 'put'>;
  readonly #meters: Pick<Meters, 'open'>;
  readonly #clock: Clock;
  readonly #texts = new Map<string, Promise<string>>();

  constructor(terms: Readonly<Record<string, KeyTerms>>, { store, meters, clock }: Surroundings) {
    this.#terms = terms;
    this.#store = store;
    this.#meters = meters;
    this.#clock = clock;
  }

  /** Headers of a request in lower case, with its key unless it sends one of its own. */
  async headersOf({
    key = defaultName,
    headers = {},
  }: DryRequest): Promise<Readonly<Record<string, string>>> {
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    if (key === null || 'authorization' in lower || 'x-api-key' in lower) return lower;
    return { 'x-api-key': await this.#textOf(key), ...lower };
  }

  #textOf(name: string): Promise<string> {
    const text = this.#texts.get(name) ?? (name === masterName ? this.#master() : this.#issue(name));
    this.#texts.set(name, text);
    return text;
  }

  async #issue(name: string): Promise<string> {
    const { used, ...given } = this.#terms[name] ?? {};
    const { text, key } = issueKey({ ...given, name }, this.#clock.now());
    const { id = key.id } = given;
    await this.#store.put({ ...key, id });
    await this.#use(id, used);
    return text;
  }

  async #master(): Promise<string> {
    await this.#use(masterName, this.#terms[masterName]?.used);
    return masterKey;
  }

  /** Opens the windows of limits that have been used. */
  async #use(keyId: string, limits: UsedLimits = {}): Promise<void> {
    const nowMs = this.#clock.now();
    for (const limit of windowLimits) {
      const { used, resetsInMs } = limits[limit] ?? {};
      if (used === undefined) continue;
      const { meter, period } = tokenWindow(limit, keyId, nowMs);
      await this.#meters.open(meter, used, resetsInMs ?? (period ? period.toMs - nowMs : minuteMs));
    }
  }
}

/** Window of limits without a calendar period. */
const minuteMs = 60_000;
