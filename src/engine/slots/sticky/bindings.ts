import type { LRUCache } from 'lru-cache';
import { growingCache } from '../../../kit/growing-cache.js';
import { within } from '../../../kit/time/within.js';
import type { Caches, Messages } from '../../../plugin/core.js';
import type { Clock, Json, Logger } from '../../../plugin/index.js';
import type { Binding, Store } from '../../../state/store/contract/store.js';
import { isNewer, nextSerial } from '../replicated/lww-register.js';
import { BindingWriter } from './binding-writer.js';

export interface BindingsOptions {
  readonly store: Store['bindings'];
  readonly messages: Messages;
  readonly log: Logger;
  readonly clock: Clock;
  /** Max sessions in memory; others are read from the store again. */
  readonly capacity?: number;
}

/** Session that is bound to a slot, by its sticky key; `untilMs` in unix milliseconds. */
export interface SessionBound {
  readonly key: string;
  readonly slotId: string;
  readonly untilMs: number;
}

interface Known extends Binding {
  /** `expiresAtMs` as stored. */
  readonly storedMs: number;
  /** Serial for last-writer-wins: of two bindings of one session the higher is newer, on any instance. */
  readonly serial: number;
  /** Time of the last check against the store, or of the last message about it. */
  readonly checkedMs: number;
}

/**
 * Bindings of sessions to slots: a bounded write-behind cache of the store. New bindings are published to
 * all instances, so none waits for the store; a missed message is corrected by regular reads of the
 * store.
 */
export class Bindings {
  readonly #options: BindingsOptions;
  /** Bindings by session; looking at one does not count as a use. */
  readonly #known: LRUCache<string, Known>;
  readonly #writer: BindingWriter;
  readonly #stopReceiving: () => void;
  /** Reads in progress, by session. */
  readonly #reading = new Map<string, Promise<void>>();

  constructor(options: BindingsOptions) {
    this.#options = options;
    const { capacity = 20_000, clock } = options;
    this.#known = growingCache(capacity);
    this.#writer = new BindingWriter({ ...options, now: clock.now, capacity });
    this.#stopReceiving = options.messages.receive(topic, (message) => this.#merge(message));
  }

  get caches(): Caches {
    return {
      sticky_sessions: () => ({ entries: this.#known.size, capacity: this.#known.maxSize }),
      unwritten_sticky_sessions: () => this.#writer.fill,
    };
  }

  /**
   * Loads a session's binding from the store if it is not cached, and checks an old one in the background.
   * Returns undefined if there is nothing to wait for; the wait has a timeout.
   */
  load(key: string): Promise<void> | undefined {
    if (this.#writer.isUnwritten(key)) return undefined;
    const known = this.#known.peek(key);
    const nowMs = this.#options.clock.now();
    const isValid = known !== undefined && known.expiresAtMs > nowMs;
    if (isValid && known.checkedMs > nowMs - trustedMs) return undefined;
    const reading = this.#reading.get(key) ?? this.#startReading(key, known);
    return isValid || !reading
      ? undefined
      : within(reading, waitMs, 'The store has not answered.', this.#options.clock.setTimer).catch(
          () => undefined,
        );
  }

  /** Slot that a session is bound to, as far as the cache knows. */
  peek(key: string): string | undefined {
    const known = this.#known.peek(key);
    return known && known.expiresAtMs > this.#options.clock.now() ? known.slotId : undefined;
  }

  /** Binds a session, or renews its binding; a renewal is stored only after a tenth of the time to live. */
  keep(key: string, slotId: string, ttlMs: number): void {
    const known = this.#known.peek(key);
    const nowMs = this.#options.clock.now();
    const expiresAtMs = nowMs + ttlMs;
    if (known?.slotId === slotId && known.expiresAtMs > nowMs) {
      const isStored = Math.abs(expiresAtMs - known.storedMs) <= ttlMs / 10;
      const { serial, checkedMs } = known;
      const storedMs = isStored ? known.storedMs : expiresAtMs;
      this.#known.set(key, { slotId, expiresAtMs, storedMs, serial, checkedMs });
      if (!isStored) this.#writer.write(key, { slotId, expiresAtMs });
      return;
    }
    const serial = this.#nextSerial(known);
    this.#known.set(key, { slotId, expiresAtMs, storedMs: expiresAtMs, serial, checkedMs: nowMs });
    this.#writer.write(key, { slotId, expiresAtMs });
    this.#options.messages.send(topic, [key, slotId, ttlMs, serial]);
  }

  drop(key: string): void {
    const known = this.#known.peek(key);
    if (!known) return;
    this.#known.delete(key);
    this.#writer.write(key, undefined);
    this.#options.messages.send(topic, [key, null, 0, this.#nextSerial(known)]);
  }

  /** Number of cached sessions by slot. */
  counts(): ReadonlyMap<string, number> {
    const nowMs = this.#options.clock.now();
    const counts = new Map<string, number>();
    for (const { slotId, expiresAtMs } of this.#known.values())
      if (expiresAtMs > nowMs) counts.set(slotId, (counts.get(slotId) ?? 0) + 1);
    return counts;
  }

  /** Cached sessions of the caller with this key, the latest `max` of them. */
  ofCaller(keyId: string, max: number): readonly SessionBound[] {
    const nowMs = this.#options.clock.now();
    const found: SessionBound[] = [];
    for (const [key, { slotId, expiresAtMs }] of this.#known.entries()) {
      if (found.length === max) break;
      if (expiresAtMs > nowMs && key.startsWith(`${keyId}:`))
        found.push({ key, slotId, untilMs: expiresAtMs });
    }
    return found;
  }

  /** Resolves when the store has all changes. */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    this.#stopReceiving();
    await this.flush();
  }

  #nextSerial(known: Known | undefined): number {
    return nextSerial(known?.serial, this.#options.clock.now());
  }

  /**
   * Merges a received binding by last-writer-wins. Writes the winner to the store again after a recent
   * write, since the writes of two instances may arrive there in any order.
   */
  #merge(message: Json): void {
    const [key, slotId, ttlMs, serial] = message as unknown as BindingMessage; // as `keep` or `drop` wrote it
    const known = this.#known.peek(key);
    const checkedMs = this.#options.clock.now();
    const expiresAtMs = checkedMs + ttlMs;
    if (known && isNewer({ serial: known.serial, wins: known.slotId > (slotId ?? '') }, serial)) {
      if (this.#writer.hasJustWritten(key)) this.#writer.write(key, known);
      return;
    }
    if (slotId === null) this.#known.delete(key);
    else this.#known.set(key, { slotId, expiresAtMs, storedMs: expiresAtMs, serial, checkedMs });
    if (this.#writer.hasJustWritten(key))
      this.#writer.write(key, slotId === null ? undefined : { slotId, expiresAtMs });
  }

  /** Starts a read; undefined if too many reads are in progress. */
  #startReading(key: string, known: Known | undefined): Promise<void> | undefined {
    if (this.#reading.size >= maxReads) return undefined;
    const reading = this.#read(key, known).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(key: string, known: Known | undefined): Promise<void> {
    const stored = await this.#readStore(key);
    const isCurrent = this.#known.peek(key)?.serial === known?.serial && !this.#writer.isUnwritten(key);
    if (isCurrent) this.#check(key, stored);
  }

  /** Reads a binding; a store failure costs stickiness, not the request. */
  async #readStore(key: string): Promise<Binding | undefined> {
    try {
      return await this.#options.store.get(key);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'A sticky binding could not be read.');
      return undefined;
    }
  }

  /** Merges a stored binding: the last used one wins, since the store may have missed a write. */
  #check(key: string, stored: Binding | undefined): void {
    const known = this.#known.peek(key);
    const checkedMs = this.#options.clock.now();
    if (stored && !(known && known.storedMs >= stored.expiresAtMs)) {
      const serial = known?.serial ?? 0;
      this.#known.set(key, { ...stored, storedMs: stored.expiresAtMs, serial, checkedMs });
    } else if (known) this.#known.set(key, { ...known, checkedMs });
  }
}

/** Published binding, with a duration instead of a time, because the clocks of instances differ. */
type BindingMessage = readonly [key: string, slotId: string | null, ttlMs: number, serial: number];

const topic = 'slots/bound';

/** Max concurrent reads. */
const maxReads = 1000;

/** Time for which a binding is trusted without a check of the store, because changes are published. */
const trustedMs = 60_000;

/** Timeout of a request that waits for the store. */
const waitMs = 250;
