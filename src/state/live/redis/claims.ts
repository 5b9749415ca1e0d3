import type { ClaimOptions, Claims } from '../../../plugin/core.js';
import { MemoryClaims } from '../memory/claims.js';
import type { RedisNames } from './names.js';
import { claim, releaseClaim } from './scripts.js';
import { endsTheSession, type RedisSession } from './session.js';

/** Claims in Redis, with expiry. While Redis is down, claims hold only within this instance. */
export class RedisClaims implements Claims {
  readonly #names: RedisNames;
  readonly #own: MemoryClaims;
  #session: RedisSession | undefined;

  constructor(names: RedisNames, now: () => number) {
    this.#names = names;
    this.#own = new MemoryClaims(now);
  }

  take(name: string, value: string, options: ClaimOptions): string | Promise<string> {
    const alone = () => this.#own.take(name, value, options);
    if (!this.#session) return alone();
    const args = [value, options.ttlMs, options.instead ?? ''];
    return this.#session.run(claim, [this.#names.claim(name)], args).then(String, alone);
  }

  release(name: string, value: string): void {
    this.#own.release(name, value);
    this.#session?.run(releaseClaim, [this.#names.claim(name)], [value]).catch(endsTheSession);
  }

  join(session: RedisSession): void {
    this.#session = session;
  }

  lose(): void {
    this.#session = undefined;
  }
}
