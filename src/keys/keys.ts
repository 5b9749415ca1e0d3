import { hash, timingSafeEqual, randomBytes, randomUUID } from 'node:crypto';
import {
  every,
  type Caches,
  type Clock,
  type Keys,
  type Logger,
  type ProtocolKey,
  type Store,
  type KeyPatch,
} from '../plugin/internal.js';
import { KeyCache } from './key-cache.js';
import { applyPatch } from '../store/key-rules.js';

interface KeysOptions {
  /** Empty: nothing matches it. */
  readonly masterKey: string;
  readonly store: Pick<Store, 'keys' | 'teams'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Checks what callers send against the master key and the store, and notes which keys were used. */
export class CheckedKeys implements Keys {
  /** Hash of the master key and of the sent key, as hexadecimal text, like the hashes in the store. */
  readonly #masterHash: Buffer | undefined;
  readonly #sentHash = Buffer.alloc(64);
  readonly #cache: KeyCache;
  readonly #options: KeysOptions;
  #usedAtMs = new Map<string, number>();
  /** True if the last write of the uses failed. */
  #isLate = false;
  readonly #stopFlushing: () => void;

  constructor(options: KeysOptions) {
    this.#options = options;
    this.#masterHash =
      options.masterKey === '' ? undefined : Buffer.from(hashOf(options.masterKey), 'latin1');
    this.#cache = new KeyCache(options);
    this.#stopFlushing = every(options.clock, touchEveryMs, () => void this.flush());
  }

  get caches(): Caches {
    return {
      ...this.#cache.caches,
      unwritten_key_uses: () => ({ entries: this.#usedAtMs.size, capacity: maxPending }),
    };
  }

  /**
   * Checks a key. Throws a GatewayError with status 503 if the key is not cached and the store cannot be
   * asked.
   */
  async check(sent: string): Promise<Awaited<ReturnType<Keys['check']>>> {
    const sentHash = hashOf(sent);
    if (this.#isMaster(sentHash)) return { kind: 'master' };
    if (!sent.startsWith(protocolKeyPrefix)) return undefined;
    const fresh = this.#cache.fresh(sentHash);
    const known = fresh ? fresh.known : await this.#cache.find(sentHash);
    const nowMs = this.#options.clock.now();
    if (!known || !isGood(known.key, nowMs)) return undefined;
    this.#note(known.key.id, nowMs);
    return { kind: 'key', ...known };
  }

  /** Compares in constant time, which reveals nothing about the master key. */
  #isMaster(hash: string): boolean {
    if (!this.#masterHash) return false;
    this.#sentHash.write(hash, 'latin1');
    return timingSafeEqual(this.#masterHash, this.#sentHash);
  }

  /** Invalidates the key cache, so that a change takes effect at once. */
  forget(): void {
    this.#cache.invalidate();
  }

  /** Flushes the last uses of keys; after a failure the next flush retries. */
  async flush(): Promise<void> {
    const used = this.#usedAtMs;
    if (used.size === 0) return;
    this.#usedAtMs = new Map();
    try {
      await this.#options.store.keys.touch(used);
      this.#isLate = false;
    } catch (error) {
      for (const [id, atMs] of used) if (!this.#usedAtMs.has(id)) this.#note(id, atMs);
      if (!this.#isLate)
        this.#options.log.warn({ err: error }, 'The last use of keys cannot be stored; retrying.');
      this.#isLate = true;
    }
  }

  async close(): Promise<void> {
    this.#stopFlushing();
    await this.flush();
  }

  /** Notes a use; with too many unwritten ones, that of one more key is dropped. */
  #note(id: string, atMs: number): void {
    if (this.#usedAtMs.size < maxPending || this.#usedAtMs.has(id)) this.#usedAtMs.set(id, atMs);
  }
}

/** Contract §2.4. */
const protocolKeyPrefix = 'sk-gw-';

const touchEveryMs = 5000;
const maxPending = 10_000;

function isGood({ revokedAtMs, expiresAtMs = Infinity }: ProtocolKey, nowMs: number): boolean {
  return revokedAtMs === undefined && expiresAtMs > nowMs;
}

/** SHA-256 in hexadecimal, by the one-shot `hash`, which is faster and needs no buffer. */
function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Fields of a new key. */
export type KeyFields = KeyPatch & { readonly name: string };

/** A new protocol key: `text` is what the caller sends, to be shown once; `key` is all that is kept of it. */
export function issueKey(
  fields: KeyFields,
  nowMs: number,
): { readonly text: string; readonly key: ProtocolKey } {
  const text = `${protocolKeyPrefix}${randomBytes(32).toString('base64url')}`;
  const bare = {
    id: `key_${randomUUID()}`,
    name: fields.name,
    hash: hashOf(text),
    last4: text.slice(-4),
    createdAtMs: nowMs,
  };
  return { text, key: applyPatch(bare, fields) };
}
