import type { Clock } from '../../kit/time/clock.js';
import type { Logger, Metrics } from './telemetry.js';
import type { Models } from './models.js';
import type { Format } from './format.js';
import type { Live, Json } from './live.js';
import type { ConnectSettings, HttpClient } from './slot/http-client.js';
import type { PickPolicy, Slots } from './slot/slots.js';
import type { StageRoute } from './route.js';
import type { ProtocolKey } from './protocol-key.js';
import type { PluginStore } from './store.js';
import type { CallerTeam } from './caller.js';
import type { PluginEvents } from './events.js';
import type { CallSupport, HostCall } from './host-call.js';

export interface Keys {
  /** Looks up a key sent by a caller, with its team; undefined if it is unknown, expired or revoked. */
  check(key: string): Promise<{ kind: 'master' } | ({ kind: 'key' } & KnownKey) | undefined>;
}

/** A key and its team, if it has one. */
export interface KnownKey {
  readonly key: ProtocolKey;
  readonly team?: CallerTeam;
}

/** Limits of a pipeline, as the health routes show them; each is announced by the stage that enforces it. */
export interface Limits {
  readonly max_body_bytes?: number;
  readonly max_tokens?: number;
  readonly cache_ttl_seconds?: number;
}

/** Encryption of data at rest, by `GW_SECRET_KEY`. Without that key both throw an Error that names it. */
export interface Secrets {
  /** Seals a JSON value under `name`, which `open` then requires. */
  seal(name: string, value: unknown): Promise<string>;
  open(name: string, sealed: string): Promise<unknown>;
}

/** Everything that a plugin may use. One for each stage: its registrations end with the pipeline. */
export interface Host {
  /** Name of the stage: that of its entry in the config, else of its plugin. */
  readonly name: string;
  readonly log: Logger;
  readonly models: Models;
  readonly slots: Slots;
  readonly formats: { get(name: string): Format };
  readonly keys: Keys;
  readonly store: PluginStore;
  readonly storage: PluginStorage;
  readonly live: Live;
  readonly secrets: Secrets;
  readonly metrics: Metrics;
  /** Events of the gateway: changed slots, reloads, settled requests. */
  readonly events: PluginEvents;
  /** Policies for picking a slot, by name; a stage above slot-pick may register one. */
  readonly policies: { get(name: string): PickPolicy; register(name: string, make: () => PickPolicy): void };
  /**
   * Opens a client for a service of the stage's own, which connects on first use, by the proxy of the environment, and
   * is closed with the pipeline. In a dry run its connections are refused.
   */
  connect(url: string, settings?: ConnectSettings): Promise<HttpClient>;
  /**
   * Calls a model without the stages, with failover, at the expense of a request's caller or of a key: a row of the
   * ledger with `label`, and the request as its `parent`, which the call may outlive. Resolves with the complete answer.
   * Throws the error of the call; `rate_limited` and `budget_exceeded` for a limit of the key; `forbidden` for an unknown
   * key; `shutting_down`; a RangeError for more than 8 calls at once of one request, or 64 by `billTo`; a TypeError on
   * wrong arguments.
   */
  readonly call: HostCall;
  /** Brings parts of `call` during `setup`, in place of rate-limit, slot-pick or upstream-call. */
  supportCalls(support: CallSupport): void;
  /** Adds a route during `setup`, which ends with the pipeline. Throws a TypeError on an invalid one. */
  route(route: StageRoute): void;
  /** Publishes a limit of this stage on `/health`. */
  announce(limits: Limits): void;
  /** Shows a sentence on every page of the console while this pipeline serves. */
  notice(text: string): void;
  /**
   * Limits announced by the stages of the default pipeline, or of a named one (`trace.pipeline` of a request); complete
   * once it serves.
   */
  limits(pipeline?: string): Limits;
  /** True if only this machine can reach the gateway: it listens on a loopback address, without a proxy. */
  readonly isLocal: boolean;
  /** True for a client whose usage is not masked (config `officialClient`). */
  isOfficialClient(userAgent: string): boolean;
  /**
   * Pseudonym for a text that the upstream must not see; the same each time, derived with a key of the
   * gateway.
   */
  pseudonym(text: string): Promise<string>;
  /** Unix milliseconds: `clock.now()`. */
  now(): number;
  /** Time and timers of the gateway, for all limits and waits of requests. */
  readonly clock: Clock;
  /**
   * True in a dry run (`gw2api test`, `explain`, `replay`): store, live state, clock and upstreams are the run's own. A
   * stage must open no sockets and files of its own then; connections are refused.
   */
  readonly dry: boolean;
  /**
   * State that a reload hands over to the next pipeline: the value under this key of this stage, created on first use.
   * To be called in `setup`; `dispose` runs once no pipeline uses the value any more.
   */
  keep<Value>(key: string, make: () => Value, dispose?: (value: Value) => void | Promise<void>): Value;
  /** Absolute path of a file or folder that an option names: a relative one starts at the folder of the config. */
  resolvePath(file: string): string;
  /** Registers a cleanup that runs after the last response of this pipeline, in reverse order. */
  onDispose(dispose: () => void | Promise<void>): void;
}

/**
 * Key-value space of one plugin in the store, which no other plugin reads; not encrypted. Throws `store_unavailable`
 * (503) during an outage.
 */
export interface PluginStorage {
  /** Undefined if there is none, or it has expired. */
  get(key: string): Promise<Json | undefined>;
  /**
   * Sets a value of at most 64 KB as JSON, under a key of at most 200 characters. Throws a RangeError beyond these, and
   * if a space would have more than 10,000 keys.
   */
  set(
    key: string,
    value: Json,
    options?: { /** Lifetime; default: no end. */ readonly ttlMs?: number },
  ): Promise<void>;
  /** Returns false if there was none. */
  delete(key: string): Promise<boolean>;
  /** Entries in the order of their keys: at most `limit` (100, at most 1000), from after the key `after`. */
  list(
    prefix?: string,
    page?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly StorageEntry[]>;
}

interface StorageEntry {
  readonly key: string;
  readonly value: Json;
}
