import type { CacheStats, ClaimOptions, Claims } from '../../../plugin/core.js';
import { ExpiringMap } from '../expiring-map.js';

interface Claim {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** Claims within one process. */
export class MemoryClaims implements Claims {
  readonly #now: () => number;
  readonly #claims: ExpiringMap<Claim>;

  constructor(now: () => number) {
    this.#now = now;
    this.#claims = new ExpiringMap(now);
  }

  get fill(): CacheStats {
    return this.#claims.fill;
  }

  take(name: string, value: string, { ttlMs, instead }: ClaimOptions): string {
    const known = this.#claims.unexpired(name)?.value;
    if (known !== undefined && known !== instead) return known;
    this.#claims.set(name, { value, expiresAtMs: this.#now() + ttlMs });
    return value;
  }

  release(name: string, value: string): void {
    if (this.#claims.get(name)?.value === value) this.#claims.delete(name);
  }
}
