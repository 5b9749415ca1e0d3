import type { Format } from './format.js';
import type { Live } from './live.js';
import type { PickPolicy, Slots } from './slots.js';
import type { WireFormat } from './state.js';
import type { ProtocolKey, Store } from './store.js';

/** The part of pino that plugins use. Never log a secret or a body. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

/** A model of the catalog file, defaults filled in. */
export interface CatalogModel {
  readonly id: string;
  readonly displayName: string;
  readonly upstreamModel: string;
  /** Cap of `max_tokens`, thinking included. */
  readonly maxTokens: number;
  readonly contextWindow?: number;
  /** False: `tool_choice` of any, tool or required is not native (contract §4.4). */
  readonly forcedToolChoice: boolean;
  /**
   * The part that the upstream takes of `temperature` and `top_p`: `both` (or true), one of the two, or none, which holds for
   * `top_k` too (or false).
   */
  readonly sampling: boolean | 'both' | 'one' | 'none';
  readonly thinking: 'adaptive' | 'budget' | 'none';
  readonly webSearch: boolean;
  readonly aliases: readonly string[];
  /** Unix seconds. */
  readonly created: number;
}

/** Limits and capabilities of a model, as far as they are known. */
export interface ModelProfile {
  /** Cap of `max_tokens`, thinking included. */
  readonly maxTokens?: number;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly thinking?: CatalogModel['thinking'];
  /** False: `thinking: { type: disabled }` is refused. */
  readonly canStopThinking?: boolean;
  /** The levels of `output_config.effort` that it takes. */
  readonly efforts?: readonly string[];
}

export interface Models {
  /**
   * By id, by alias, or by the vendor's longer name of an id (`claude-sonnet-5-20260101` for `sonnet-5`), which stands
   * in `upstreamModel` then: a dated name goes up as it was written.
   */
  find(name: string): CatalogModel | undefined;
  list(): readonly CatalogModel[];
  /**
   * The profile of any model: the catalog's, else what the upstreams list of it, each corrected by what `learn` was
   * told. Empty where nothing is known; never waits.
   */
  profile(name: string): ModelProfile;
  /** Keeps what an upstream's refusal says of a model; a bounded number of models, in this process. */
  learn(name: string, profile: ModelProfile): void;
}

export interface Keys {
  /** What a key sent by a caller is; undefined where it is unknown, expired or revoked. */
  check(key: string): Promise<{ kind: 'master' } | { kind: 'key'; key: ProtocolKey } | undefined>;
}

export interface Counter {
  add(labels: Readonly<Record<string, string>>, amount?: number): void;
}
export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** How full something is that is kept in memory. */
export interface CacheFill {
  readonly entries: number;
  /** The most entries there can be. */
  readonly capacity: number;
}

/** Prometheus metrics; a name that exists already gives the same metric. */
export interface Metrics {
  counter(name: string, help: string, labels: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram;
  /**
   * Shows how full a cache is, as `gw2api_cache_entries` and `gw2api_cache_capacity`, until the pipeline ends; `read` is
   * called at each scrape. Gives the way to stop it.
   */
  cache(name: string, read: () => CacheFill): () => void;
}

/** Caches by name, as `Metrics.cache` takes them. */
export type Caches = Readonly<Record<string, () => CacheFill>>;

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
