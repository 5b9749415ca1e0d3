import { issueKey } from '../keys/keys.js';
import type { Clock, Store } from '../plugin/internal.js';
import type { DryRequest } from './outcome.js';
import type { KeyTerms } from './settings.js';
import { masterKey } from './world.js';

/** Name of the key that may use `/admin` and the console's API. */
export const masterName = 'master';

/** Name of the key of requests that name none. */
const defaultName = 'test';

/** Keys of a dry run by name, each issued when it is first used. */
export class DryKeys {
  readonly #terms: Readonly<Record<string, KeyTerms>>;
  readonly #store: Pick<Store['keys'], 'put'>;
  readonly #clock: Clock;
  readonly #texts = new Map<string, Promise<string>>();

  constructor(terms: Readonly<Record<string, KeyTerms>>, store: Pick<Store['keys'], 'put'>, clock: Clock) {
    this.#terms = terms;
    this.#store = store;
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
    if (name === masterName) return Promise.resolve(masterKey);
    const text = this.#texts.get(name) ?? this.#issue(name);
    this.#texts.set(name, text);
    return text;
  }

  async #issue(name: string): Promise<string> {
    const { id, ...terms } = this.#terms[name] ?? {};
    const { text, key } = issueKey({ ...terms, name }, this.#clock.now());
    await this.#store.put(id === undefined ? key : { ...key, id });
    return text;
  }
}
