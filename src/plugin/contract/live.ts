import type { Caches } from './telemetry.js';

/**
 * State shared by the running instances of a gateway (`live:` in the config); expires within an hour after the last
 * one, at once if in memory. While the others are unreachable, this instance continues alone and merges later: no
 * method rejects for that.
 */
export interface Live {
  /** Id of this instance, never used by another one. */
  readonly instance: string;
  /** True while the other instances are unreachable (down). */
  readonly isDown: boolean;
  /** Number of instances, this one included, as last received; absent if unknown. */
  readonly instances?: number | undefined;
  /** In-memory caches, for metrics. */
  readonly caches?: Caches;
  readonly shared: SharedMap;
  readonly permits: Permits;
  readonly meters: Meters;
  readonly messages: Messages;
  readonly claims: Claims;
  /**
   * Lock: waits until no other work of the same name runs on any instance, then runs `work`; the lock of a dead
   * instance is released after some seconds. `signal` aborts `work` if another instance has taken over a lock that was
   * not renewed in time.
   */
  withLock<Result>(name: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Replicated map: reads are local and immediate, writes reach the other instances within milliseconds. For
 * each key the last writer wins.
 */
export interface SharedMap {
  get(key: string): Json | undefined;
  /**
   * Remaining lifetime of a key, the same on all instances even if their clocks differ; undefined if there is
   * no such key.
   */
  ttlMs(key: string): number | undefined;
  /** Entries whose keys begin with `prefix`, as known here. */
  entries(prefix: string): readonly (readonly [key: string, value: Json])[];
  /** Sets a value that expires after `ttlMs`; absent: never. */
  set(key: string, value: Json, ttlMs?: number): void;
  /** Deletes a key; does nothing if the key is not known here. */
  delete(key: string): void;
  /**
   * Subscribes to keys under `prefix` that another instance writes, or deletes (undefined); not to expiry.
   * Returns the function that unsubscribes.
   */
  watch(prefix: string, listener: (key: string, value: Json | undefined) => void): () => void;
}

/**
 * Semaphores of slots, counted over all instances. Permits of an instance that died are released after some
 * seconds.
 */
export interface Permits {
  /**
   * Takes a permit for this instance, unless all instances together hold `limit`; synchronous if no other
   * instance must be asked. If it is refused although there seemed to be room, watchers are notified a
   * moment later.
   */
  take(slot: string, limit: number): boolean | Promise<boolean>;
  /** Releases one permit. */
  release(slot: string): void;
  /** Number of permits held by the other instances, as last received. */
  heldElsewhere(slot: string): number;
  /**
   * Subscribes to slots of which the other instances hold, or may hold, more or fewer permits than before.
   * Returns the function that unsubscribes.
   */
  watch(listener: (slot: string) => void): () => void;
}

export interface MeterReading {
  readonly used: number;
  /** Time until the window resets. */
  readonly resetsInMs: number;
}

/** Reading after an attempt to add an amount. */
interface MeterTake extends MeterReading {
  readonly isAllowed: boolean;
}

/**
 * Meters: counters within time windows, over all instances; a window begins with its first use. While the others are
 * unreachable, counting continues from the last known value, and is merged later; readings are synchronous if no other
 * instance must be asked.
 */
export interface Meters {
  /** Adds `amount`, unless that would exceed `limit`. */
  take(
    meter: string,
    amount: number,
    window: { readonly limit: number; readonly windowMs: number },
  ): MeterTake | Promise<MeterTake>;
  /** Adds `amount` without a limit. */
  add(meter: string, amount: number, windowMs: number): MeterReading | Promise<MeterReading>;
  /** Undefined if no window is open. */
  read(meter: string): MeterReading | undefined | Promise<MeterReading | undefined>;
  /**
   * Opens a window that starts at `used`, unless one is open. After an outage in which it was used here it is closed,
   * to be reopened from its other source.
   */
  open(meter: string, used: number, windowMs: number): Promise<void>;
  /** Adds `amount` to a window that `open` has opened; undefined, and nothing is added, if none is open. */
  addOpened(meter: string, amount: number): MeterReading | undefined | Promise<MeterReading | undefined>;
  /** Raises the use of a window that is open to at least `used`; undefined if none is open. */
  raise(meter: string, used: number): Promise<MeterReading | undefined>;
}

/**
 * Claims of names with a time to live, over all instances. While the others are unreachable, each instance
 * has its own.
 */
export interface Claims {
  /**
   * Claims a name for a value, unless it is claimed already and not for `instead`. Returns the value that
   * holds the claim; synchronous if no other instance must be asked.
   */
  take(name: string, value: string, options: ClaimOptions): string | Promise<string>;
  /** Releases the claim, if it is for this value. */
  release(name: string, value: string): void;
}

export interface ClaimOptions {
  readonly ttlMs: number;
  /** Value whose claim is replaced. */
  readonly instead?: string;
}

/**
 * Publish/subscribe between the running instances; a message may get lost while the others are unreachable.
 */
export interface Messages {
  send(topic: string, message: Json): void;
  /** Subscribes to a topic. Returns the function that unsubscribes. */
  receive(topic: string, listener: (message: Json) => void): () => void;
}
