import type { Logger } from './logger.js';
import type { Models } from './models.js';
import type { Metrics } from './metrics.js';
import type { Format } from './format.js';
import type { Live } from './live.js';
import type { PickPolicy, Slots } from './slots.js';
import type { WireFormat } from './operation.js';
import type { ProtocolKey, Store } from './store.js';

export interface Keys {
  /** What a key sent by a caller is; undefined where it is unknown, expired or revoked. */
  check(key: string): Promise<{ kind: 'master' } | { kind: 'key'; key: ProtocolKey } | undefined>;
}

/** What the health routes tell of this pipeline's limits; the stage that keeps a limit says it. */
export interface Limits {
  readonly max_body_bytes?: number;
  readonly max_tokens?: number;
  readonly cache_ttl_seconds?: number;
}

/** All that a plugin may reach. One for each stage: what it registers ends with its pipeline. */
export interface Host {
  readonly log: Logger;
  readonly models: Models;
  readonly slots: Slots;
  readonly formats: { get(name: WireFormat): Format };
  readonly keys: Keys;
  readonly store: Store;
  readonly live: Live;
  readonly metrics: Metrics;
  /** Ways to pick a slot, by name; a stage above slot-pick may register one. */
  readonly policies: { get(name: string): PickPolicy; register(name: string, make: () => PickPolicy): void };
  /** Tells callers of a limit that this stage keeps, on `/health`. */
  announce(limits: Limits): void;
  /** The limits that the stages of this pipeline have announced; complete once it serves. */
  limits(): Limits;
  /** Whose usage is not masked (config `officialClient`). */
  isOfficialClient(userAgent: string): boolean;
  /** An opaque name for what the upstream must not be told, the same each time; it takes a key of the gateway to make it. */
  pseudonym(text: string): Promise<string>;
  /** Unix milliseconds. */
  now(): number;
  /** Runs after the last response of this pipeline, in reverse order. */
  onDispose(dispose: () => void | Promise<void>): void;
}
