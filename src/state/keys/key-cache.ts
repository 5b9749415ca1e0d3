import type { LRUCache } from 'lru-cache';
import { GatewayError, type Clock, type Logger } from '../../plugin/index.js';
import type { Caches, CacheStats } from '../../plugin/core.js';
import { growingCache } from '../../kit/growing-cache.js';
import { within } from '../../kit/time/within.js';

interface KeyCacheOptions<Known> {
  /** Looks a key up in the store. */
  readonly find: (hash: string) => Promise<Known | undefined>;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Answer<Known> {
  /** Undefined if the store has no such key. */
  readonly known: Known | undefined;
  readonly atMs: number;
  /** Number of changes at the time of the look-up. */
  readonly changes: number;
}

/**
 * Cache of keys by hash, with a short ttl, so that a revocation takes effect everywhere within a second.
 * While the store is down, a recently known key is accepted without waiting.
 */
export class KeyCache<Known extends object> {
  readonly #options: KeyCacheOptions<Known>;
  readonly #known = growingCache<Answer<Known>>(10_000);
  /** Unknown keys, cached separately, so that guessed keys cannot evict the known ones. */
  readonly #unknown = growingCache<Answer<Known>>(10_000);
  readonly #asking = new Map<string, Promise<Known | undefined>>();
  #failedAtMs = -Infinity;
  /** Number of changes so far; entries looked up before the last change are stale. */
  #changes = 0;

  constructor(options: KeyCacheOptions<Known>) {
    this.#options = options;
  }

  /** `name` is the name of the cached items: `keys`. */
  caches(name: string): Caches {
    return { [name]: () => fillOf(this.#known), [`unknown_${name}`]: () => fillOf(this.#unknown) };
  }

  /** Cached answer, if it is fresh. */
  fresh(hash: string): Pick<Answer<Known>, 'known'> | undefined {
    const known = this.#known.get(hash) ?? this.#unknown.get(hash);
    return known && this.#isFresh(known) ? known : undefined;
  }

  /** Former state of a key that was known within the last hour; does not read the store. */
  lastKnown(hash: string): Known | undefined {
    const answer = this.#known.peek(hash);
    return answer && this.#ageOf(answer.atMs) < staleMs ? answer.known : undefined;
  }

  /**
   * Looks a key up. Throws a GatewayError with status 503 if neither the cache nor the store has an answer.
   */
  async find(hash: string): Promise<Known | undefined> {
    const answer = this.#known.get(hash);
    const stale = answer && this.#ageOf(answer.atMs) < staleMs ? answer.known : undefined;
    const asked = this.#ask(hash);
    if (!stale) return asked.catch(refuse);
    if (this.#isDown) {
      void asked.catch(() => undefined);
      return stale;
    }
    const { setTimer } = this.#options.clock;
    return within(asked, timeoutMs, 'The store has not answered.', setTimer).catch(() => stale);
  }

  /**
   * Invalidates all entries, which then count only while the store is unreachable; those of `ended` not even then.
   */
  invalidate(ended: readonly string[] = []): void {
    this.#changes += 1;
    for (const hash of ended) this.#known.delete(hash);
    this.#unknown.clear();
    this.#asking.clear();
  }

  /** True if the last look-up failed and none has succeeded since. */
  get #isDown(): boolean {
    return this.#failedAtMs > -Infinity;
  }

  #isFresh({ atMs, changes }: Answer<Known>): boolean {
    const ageMs = this.#ageOf(atMs);
    return changes === this.#changes && ageMs >= 0 && ageMs < freshMs; // below 0: the clock has stepped back
  }

  #ageOf(atMs: number): number {
    return this.#options.clock.now() - atMs;
  }

  /** Looks a key up, with concurrent look-ups of one key merged. */
  #ask(hash: string): Promise<Known | undefined> {
    const asking = this.#asking.get(hash);
    if (asking) return asking;
    if (this.#asking.size >= maxReads)
      return Promise.reject(new Error('Too many keys are already being looked up.'));
    const asked = this.#read(hash).finally(() => {
      if (this.#asking.get(hash) === asked) this.#asking.delete(hash);
    });
    this.#asking.set(hash, asked);
    return asked;
  }

  /** Reads a key from the store. Its age counts from the request, as later changes may be missing. */
  async #read(hash: string): Promise<Known | undefined> {
    const { find, clock, log } = this.#options;
    const atMs = clock.now();
    const changes = this.#changes;
    try {
      const known = await find(hash);
      this.#failedAtMs = -Infinity;
      if (changes !== this.#changes) return known;
      this.#known.delete(hash);
      (known ? this.#known : this.#unknown).set(hash, { known, atMs, changes });
      return known;
    } catch (error) {
      if (!this.#isDown)
        log.error({ err: error }, 'Keys cannot be looked up in the store; recently used keys stay valid.');
      this.#failedAtMs = clock.now();
      throw error;
    }
  }
}

function fillOf<Known>({ size, maxSize }: LRUCache<string, Answer<Known>>): CacheStats {
  return { entries: size, capacity: maxSize };
}

/** TTL of an entry, slightly below the one second within which a revocation must take effect. */
const freshMs = 900;

/** Max concurrent look-ups. */
const maxReads = 10_000;

/** Timeout of a look-up for a request whose key is cached but stale. */
const timeoutMs = 500;

/** Max age of a cached key that is accepted while the store is down. */
const staleMs = 3_600_000;

/** Error for a failed look-up. Not a 401, at which a caller would discard its key. */
function refuse(cause: unknown): never {
  throw new GatewayError('store_unavailable', 'The key cannot be checked right now; try again.', {
    headers: { 'retry-after': '1' },
    cause,
  });
}
