import type { Caches } from './metrics.js';

/**
 * What the instances of a gateway share while they run (`live:` in the config). It outlives the last of them by an hour at
 * most, and in memory not at all. While the others cannot be reached, everything here goes on for this instance alone, and
 * is brought together later: no method rejects for that.
 */
export interface Live {
  /** Of this instance; no other one ever has the same. */
  readonly instance: string;
  /** The others cannot be reached at the moment. */
  readonly isAway: boolean;
  /** How many there are, this one included, as last heard; absent: that is not known. */
  readonly instances?: number;
  /** What it keeps in memory, to be measured. */
  readonly caches?: Caches;
  readonly shared: SharedMap;
  readonly places: Places;
  readonly meters: Meters;
  readonly messages: Messages;
  readonly claims: Claims;
  /**
   * Does `work` while no other instance, and nobody else here, does work of the same name; waits for that. A holder that
   * has gone keeps the others waiting for some seconds at most.
   */
  exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * A map with a replica in each instance: a read is answered at once, a write is seen by the others within some
 * milliseconds. Of two writes of one key, the later one wins everywhere.
 */
export interface SharedMap {
  get(key: string): Json | undefined;
  /** The time left of a key, the same in all instances however their clocks differ; undefined where there is no such key. */
  ttlMs(key: string): number | undefined;
  /** What is known of the keys that begin with `prefix`. */
  entries(prefix: string): readonly (readonly [key: string, value: Json])[];
  /** It goes by itself after `ttlMs`; absent: never. */
  set(key: string, value: Json, ttlMs?: number): void;
  /** A key that is not known here, or no longer, stays as it is. */
  delete(key: string): void;
  /**
   * Calls `listener` with each key under `prefix` that another instance has written, or deleted (undefined); not with
   * what has gone by itself. Gives the way to stop it.
   */
  watch(prefix: string, listener: (key: string, value: Json | undefined) => void): () => void;
}

/** Places in slots, counted over all instances. What an instance held that has gone is free again after some seconds. */
export interface Places {
  /**
   * Takes a place for this instance, unless all instances together hold `limit`; at once where nobody has to be asked. Where
   * it was refused although there seemed to be room, watchers are told a moment later.
   */
  take(slot: string, limit: number): boolean | Promise<boolean>;
  /** Gives one back. */
  release(slot: string): void;
  /** How many the other instances hold, as last heard. */
  heldElsewhere(slot: string): number;
  /** Calls `listener` with each slot of which the others hold more or fewer places than before, or may. Gives the way to stop it. */
  watch(listener: (slot: string) => void): () => void;
}

export interface MeterReading {
  readonly used: number;
  /** How long until it begins anew. */
  readonly resetsInMs: number;
}

/**
 * Amounts used up within windows of time, over all instances. A window begins with its first use. While the others cannot be
 * reached, it goes on from what was last known here; what is used meanwhile is added later.
 */
export interface Meters {
  /** Adds `amount`, unless more than `limit` would then be used. */
  take(
    meter: string,
    amount: number,
    window: { readonly limit: number; readonly windowMs: number },
  ): Promise<MeterReading & { readonly isAllowed: boolean }>;
  /** Adds `amount`, whatever has been used. */
  add(meter: string, amount: number, windowMs: number): Promise<MeterReading>;
  /** Undefined where no window is open. */
  read(meter: string): Promise<MeterReading | undefined>;
  /** Opens a window in which `used` has been used already, where none is open. */
  open(meter: string, used: number, windowMs: number): Promise<void>;
}

/** Names that are claimed for a while, over all instances. While the others cannot be reached, each instance has its own. */
export interface Claims {
  /**
   * Claims a name for a value, unless it is claimed already and not for `instead`. Gives the value that it is claimed for
   * then; at once where nobody has to be asked.
   */
  take(name: string, value: string, options: ClaimOptions): string | Promise<string>;
  /** Ends the claim, where it is for this value. */
  release(name: string, value: string): void;
}

export interface ClaimOptions {
  readonly ttlMs: number;
  /** A claim that is replaced. */
  readonly instead?: string;
}

/** Messages to all other instances that listen now; one may get lost while the others cannot be reached. */
export interface Messages {
  send(topic: string, message: Json): void;
  /** Gives the way to stop it. */
  receive(topic: string, listener: (message: Json) => void): () => void;
}
