import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, type Caches, type Logger, type ProtocolKey, type Store } from '../plugin/index.js';
import { BoundedMap } from '../store/memory/bounded-map.js';

export interface KeyCacheOptions {
  readonly store: Pick<Store['keys'], 'findByHash'>;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface Answer {
  /** Undefined: the store has no such key. */
  readonly key: ProtocolKey | undefined;
  readonly atMs: number;
  /** How many changes had been told of when it was asked. */
  readonly changes: number;
}

/**
 * Keys by hash, asked of the store again after a moment, so that a revocation holds everywhere within a second. While
 * the store cannot be asked, a key that was known lately is let in without waiting for it.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #known = new BoundedMap<Answer>({ most: 10_000 });
  /** Apart from the known, which somebody who tries keys out must not drive away. */
  readonly #unknown = new BoundedMap<Answer>({ most: 10_000 });
  readonly #asking = new Map<string, Promise<ProtocolKey | undefined>>();
  #failedAtMs = -Infinity;
  /** How often something was changed: what was asked before the last time has to be asked again. */
  #changes = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  get caches(): Caches {
    return { keys: () => this.#known.fill, unknown_keys: () => this.#unknown.fill };
  }

  /** What was asked a moment ago. */
  fresh(hash: string): Pick<Answer, 'key'> | undefined {
    const known = this.#known.get(hash) ?? this.#unknown.get(hash);
    return known && this.#isFresh(known) ? known : undefined;
  }

  /** Throws a GatewayError with status 503 where neither the cache nor the store can tell. */
  async find(hash: string): Promise<ProtocolKey | undefined> {
    const known = this.#known.get(hash);
    const stale = known?.key && this.#ageOf(known.atMs) < staleMs ? known.key : undefined;
    const asked = this.#ask(hash);
    if (!stale) return asked.catch(refuse);
    if (this.#isAway) {
      void asked.catch(() => undefined);
      return stale;
    }
    return Promise.race([asked.catch(() => stale), delay(patienceMs, stale, { ref: false })]);
  }

  /** All is asked anew; what was known counts only while the store cannot be asked. */
  outdate(): void {
    this.#changes += 1;
    this.#unknown.clear();
    this.#asking.clear();
  }

  /** The last question failed, and none has been answered since. */
  get #isAway(): boolean {
    return this.#failedAtMs > -Infinity;
  }

  #isFresh({ atMs, changes }: Answer): boolean {
    return changes === this.#changes && this.#ageOf(atMs) < freshMs;
  }

  #ageOf(atMs: number): number {
    return this.#options.now() - atMs;
  }

  /** One question at a time for each key. */
  #ask(hash: string): Promise<ProtocolKey | undefined> {
    const asking = this.#asking.get(hash);
    if (asking) return asking;
    if (this.#asking.size >= mostAsked)
      return Promise.reject(new Error('Too many keys are being looked up already.'));
    const asked = this.#read(hash).finally(() => {
      if (this.#asking.get(hash) === asked) this.#asking.delete(hash);
    });
    this.#asking.set(hash, asked);
    return asked;
  }

  /** An answer is as old as its question: what changed meanwhile may not be in it. */
  async #read(hash: string): Promise<ProtocolKey | undefined> {
    const { store, now, log } = this.#options;
    const atMs = now();
    const changes = this.#changes;
    try {
      const key = await store.findByHash(hash);
      this.#failedAtMs = -Infinity;
      if (changes !== this.#changes) return key;
      this.#known.delete(hash);
      (key ? this.#known : this.#unknown).set(hash, { key, atMs, changes });
      return key;
    } catch (error) {
      if (!this.#isAway)
        log.error({ err: error }, 'Keys cannot be looked up in the store; those in use go on.');
      this.#failedAtMs = now();
      throw error;
    }
  }
}

/** A little less than the second within which a revocation has to hold. */
const freshMs = 900;

/** How many keys may be looked up at a time. */
const mostAsked = 10_000;

/** How long a request waits for a store that is silent, where the key was known lately. */
const patienceMs = 500;

/** How long a key is let in that cannot be looked up. */
const staleMs = 3_600_000;

/** Not a 401: a caller would throw its key away. */
function refuse(cause: unknown): never {
  throw new GatewayError('store_unavailable', 'The key cannot be checked at the moment; try again.', {
    headers: { 'retry-after': '1' },
    cause,
  });
}
