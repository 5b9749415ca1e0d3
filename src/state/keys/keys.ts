import { hash, timingSafeEqual, randomBytes, randomUUID } from 'node:crypto';
import { GatewayError, keyLimits, type Clock, type Logger, type ProtocolKey } from '../../plugin/index.js';
import type { Caches, Keys, KeySecret, KnownKey, Team } from '../../plugin/core.js';
import type { Store, KeyPatch } from '../store/contract/store.js';
import { KeyCache } from './key-cache.js';
import { KeyPasses, type KeyPass, type PassedAs } from './key-passes.js';
import { KeyUses } from './key-uses.js';
import { applyPatch, isGood } from '../store/key-rules.js';

interface KeysOptions {
  /** Empty: no key matches. */
  readonly masterKey: string;
  readonly store: Pick<Store, 'keys' | 'teams'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Checks callers' keys against the master key and the store, and records their use. */
export class CheckedKeys implements Keys {
  /** Hash of the master key and of the sent key, as hexadecimal text, like the hashes in the store. */
  readonly #masterHash: Buffer | undefined;
  readonly #sentHash = Buffer.alloc(64);
  readonly #cache: KeyCache<KnownKey>;
  readonly #uses: KeyUses;
  readonly #options: KeysOptions;
  readonly #passes = new KeyPasses();

  constructor(options: KeysOptions) {
    this.#options = options;
    this.#masterHash =
      options.masterKey === '' ? undefined : Buffer.from(hashOf(options.masterKey), 'latin1');
    const { store } = options;
    this.#cache = new KeyCache({ ...options, find: (hash) => findKey(store, hash) });
    this.#uses = new KeyUses({ ...options, store: store.keys, what: 'keys' });
  }

  get caches(): Caches {
    return { ...this.#cache.caches('keys'), unwritten_key_uses: () => this.#uses.fill };
  }

  /** Checks a key. Throws a GatewayError with status 503 if the key is not cached and the store is unreachable. */
  async check(sent: string): Promise<Awaited<ReturnType<Keys['check']>>> {
    const pass = this.#passes.take(sent);
    if (pass) return this.#checkPass(pass);
    const sentHash = hashOf(sent);
    if (this.#isMaster(sentHash)) return { kind: 'master' };
    if (!sent.startsWith(protocolKeyPrefix)) return undefined;
    const fresh = this.#cache.fresh(sentHash);
    const known = fresh ? fresh.known : await this.#cache.find(sentHash);
    const nowMs = this.#options.clock.now();
    if (!known || !isGood(known.key, nowMs) || !isSecretOf(known.key, sentHash, nowMs)) return undefined;
    this.#uses.note(known.key.id, nowMs);
    return { kind: 'key', ...known };
  }

  /** True for the master key, a pass, and a key that was valid within the last hour; does not read the store. */
  wasGood(sent: string): boolean {
    const sentHash = hashOf(sent);
    const key = this.#cache.lastKnown(sentHash)?.key;
    const isKnown = key !== undefined && isGood(key, this.#options.clock.now());
    return isKnown || this.#isMaster(sentHash) || this.#passes.has(sent);
  }

  /** True for an unused pass of a request from within the process. */
  hasPass(sent: string | undefined): boolean {
    return sent !== undefined && this.#passes.has(sent);
  }

  /**
   * Pass for one request of this process as a key, or as `master`: a text that `check` accepts once instead of the key.
   * Throws `not_found` for an unknown id.
   */
  async pass(keyId: string): Promise<KeyPass> {
    if (keyId === 'master') return this.#passes.make('master');
    const { keys, teams } = this.#options.store;
    const key = await keys.get(keyId);
    if (!key) throw new GatewayError('not_found', `Unknown key ${JSON.stringify(keyId)}.`);
    return this.#passes.make(await withTeam(key, teams));
  }

  /** Key of an id with its team, read from the store; undefined if it is unknown, expired or revoked. */
  async find(keyId: string): Promise<KnownKey | undefined> {
    const { store, clock } = this.#options;
    const key = await store.keys.get(keyId);
    if (!key || !isGood(key, clock.now())) return undefined;
    this.#uses.note(key.id, clock.now());
    return withTeam(key, store.teams);
  }

  #checkPass(known: PassedAs): Awaited<ReturnType<Keys['check']>> {
    if (known === 'master') return { kind: 'master' };
    const nowMs = this.#options.clock.now();
    if (!isGood(known.key, nowMs)) return undefined;
    this.#uses.note(known.key.id, nowMs);
    return { kind: 'key', ...known };
  }

  /** Compares in constant time, which reveals nothing about the master key. */
  #isMaster(hash: string): boolean {
    if (!this.#masterHash) return false;
    this.#sentHash.write(hash, 'latin1');
    return timingSafeEqual(this.#masterHash, this.#sentHash);
  }

  /** Invalidates the key cache, so that a change takes effect at once; `ended`: hashes of secrets that have ended. */
  forget(ended?: readonly string[]): void {
    this.#cache.invalidate(ended);
  }

  /** Flushes the last uses of keys; after a failure the next flush retries. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  close(): Promise<void> {
    return this.#uses.close();
  }
}

/** A key of the store with its team. */
async function findKey(store: KeysOptions['store'], hash: string): Promise<KnownKey | undefined> {
  const key = await store.keys.findByHash(hash);
  return key && withTeam(key, store.teams);
}

async function withTeam(key: ProtocolKey, teams: KeysOptions['store']['teams']): Promise<KnownKey> {
  const team = key.team === undefined ? undefined : await teams.get(key.team);
  return { key, ...(team && { team: callerTeam(team) }) };
}

function callerTeam(team: Team): NonNullable<KnownKey['team']> {
  const { id, name, pipeline } = team;
  const limits = keyLimits(team);
  return { id, name, ...(limits && { limits }), ...(pipeline !== undefined && { pipeline }) };
}

/** Start of every protocol key. */
const protocolKeyPrefix = 'sk-gw-';

/** True for the secret of a key, and for a former one that has not ended. */
function isSecretOf(
  { hash: own, formerSecrets = [] }: ProtocolKey,
  sentHash: string,
  nowMs: number,
): boolean {
  return (
    own === sentHash || formerSecrets.some(({ hash, endsAtMs }) => hash === sentHash && endsAtMs > nowMs)
  );
}

/** SHA-256 in hexadecimal, by the one-shot `hash`, which is faster and needs no buffer. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Fields of a new key. */
export type KeyFields = KeyPatch & { readonly name: string };

/** A new protocol key: `text` is for the caller, to be shown once; `key` is the stored part. */
export function issueKey(
  fields: KeyFields,
  nowMs: number,
): { readonly text: string; readonly key: ProtocolKey } {
  const { text, secret } = makeKeySecret();
  const bare = { id: `key_${randomUUID()}`, name: fields.name, ...secret, createdAtMs: nowMs };
  return { text, key: applyPatch(bare, fields) };
}

/** A new secret of a protocol key: `text` is shown once, and `secret` is the stored part. */
export function makeKeySecret(): { readonly text: string; readonly secret: KeySecret } {
  const text = `${protocolKeyPrefix}${randomBytes(32).toString('base64url')}`;
  return { text, secret: { hash: hashOf(text), last4: text.slice(-4) } };
}
