import type { Binding, Caches, Json, Logger, Messages, Store } from '../../plugin/index.js';
import { BindingWriter } from './binding-writer.js';
import type { SetTimer } from '../timers.js';
import { within } from '../within.js';

export interface BindingsOptions {
  readonly store: Store['bindings'];
  readonly messages: Messages;
  readonly log: Logger;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** How many sessions are kept in memory; the others are read from the store again. */
  readonly capacity?: number;
}

interface Known extends Binding {
  /** `expiresAtMs` as the store has it. */
  readonly storedMs: number;
  /** Of two bindings of one session the one with the higher number is the newer one, whichever instance made it. */
  readonly serial: number;
  /** When the store or another instance last had a say in it. */
  readonly checkedMs: number;
}

/**
 * Which session stays on which slot: a bounded cache before the store, written behind. A new binding is told to all
 * instances at once, so that none has to wait for the store, and each corrects what it had. What one of them has missed
 * it learns from the store, which is asked again from time to time.
 */
export class Bindings {
  readonly #options: BindingsOptions;
  readonly #capacity: number;
  /** Least recently used first. */
  readonly #known = new Map<string, Known>();
  readonly #writer: BindingWriter;
  readonly #stopReceiving: () => void;
  /** Reads under way, by session. */
  readonly #reading = new Map<string, Promise<void>>();

  constructor(options: BindingsOptions) {
    this.#options = options;
    this.#capacity = options.capacity ?? 20_000;
    this.#writer = new BindingWriter({ ...options, capacity: this.#capacity });
    this.#stopReceiving = options.messages.receive(topic, (message) => this.#hear(message));
  }

  get caches(): Caches {
    return {
      sticky_sessions: () => ({ entries: this.#known.size, capacity: this.#capacity }),
      unwritten_sticky_sessions: () => this.#writer.fill,
    };
  }

  /**
   * Brings a session's binding from the store into the cache, where it is not there, and otherwise has it checked from
   * time to time. Undefined where nothing has to be waited for; a store that does not answer is not waited for long.
   */
  load(key: string): Promise<void> | undefined {
    if (this.#writer.isUnwritten(key)) return undefined;
    const known = this.#known.get(key);
    const nowMs = this.#options.now();
    const isValid = known !== undefined && known.expiresAtMs > nowMs;
    if (isValid && known.checkedMs > nowMs - trustedMs) return undefined;
    const reading = this.#reading.get(key) ?? this.#startReading(key, known);
    return isValid || !reading ? undefined : within(reading, waitMs, this.#options.setTimer);
  }

  /** The slot that a session is bound to, as far as the cache knows. */
  peek(key: string): string | undefined {
    const known = this.#known.get(key);
    return known && known.expiresAtMs > this.#options.now() ? known.slotId : undefined;
  }

  /** Binds a session, or renews it; the store hears of a renewal only after a tenth of the time to live. */
  keep(key: string, slotId: string, ttlMs: number): void {
    const known = this.#known.get(key);
    const nowMs = this.#options.now();
    const expiresAtMs = nowMs + ttlMs;
    if (known?.slotId === slotId && known.expiresAtMs > nowMs) {
      const isStored = Math.abs(expiresAtMs - known.storedMs) <= ttlMs / 10;
      const { serial, checkedMs } = known;
      const storedMs = isStored ? known.storedMs : expiresAtMs;
      this.#remember(key, { slotId, expiresAtMs, storedMs, serial, checkedMs });
      if (!isStored) this.#writer.write(key, { slotId, expiresAtMs });
      return;
    }
    const serial = this.#nextSerial(known);
    this.#remember(key, { slotId, expiresAtMs, storedMs: expiresAtMs, serial, checkedMs: nowMs });
    this.#writer.write(key, { slotId, expiresAtMs });
    this.#options.messages.send(topic, [key, slotId, ttlMs, serial]);
  }

  drop(key: string): void {
    const known = this.#known.get(key);
    if (!known) return;
    this.#known.delete(key);
    this.#writer.write(key, undefined);
    this.#options.messages.send(topic, [key, null, 0, this.#nextSerial(known)]);
  }

  /** How many sessions of the cache are bound to a slot. */
  count(slotId: string): number {
    const nowMs = this.#options.now();
    let count = 0;
    for (const known of this.#known.values())
      if (known.slotId === slotId && known.expiresAtMs > nowMs) count += 1;
    return count;
  }

  /** Resolves when the store has everything. */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    this.#stopReceiving();
    await this.flush();
  }

  #nextSerial(known: Known | undefined): number {
    return Math.max(this.#options.now(), (known?.serial ?? 0) + 1);
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#capacity && oldest !== undefined) this.#known.delete(oldest);
  }

  /**
   * The newer binding counts, in all instances and in the end in the store too: whoever has just written another one
   * there writes once more.
   */
  #hear(message: Json): void {
    const [key, slotId, ttlMs, serial] = message as unknown as Told; // as `keep` or `drop` wrote it
    const known = this.#known.get(key);
    const checkedMs = this.#options.now();
    const expiresAtMs = checkedMs + ttlMs;
    if (known && isNewer(known, { serial, slotId })) {
      if (this.#writer.hasJustWritten(key)) this.#writer.write(key, known);
      return;
    }
    if (slotId === null) this.#known.delete(key);
    else this.#remember(key, { slotId, expiresAtMs, storedMs: expiresAtMs, serial, checkedMs });
    if (this.#writer.hasJustWritten(key))
      this.#writer.write(key, slotId === null ? undefined : { slotId, expiresAtMs });
  }

  /** Undefined where the store owes too many answers already. */
  #startReading(key: string, known: Known | undefined): Promise<void> | undefined {
    if (this.#reading.size >= mostRead) return undefined;
    const reading = this.#read(key, known).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(key: string, known: Known | undefined): Promise<void> {
    const stored = await this.#readStore(key);
    const isCurrent = this.#known.get(key)?.serial === known?.serial && !this.#writer.isUnwritten(key);
    if (isCurrent) this.#check(key, stored);
  }

  /** A store that cannot be read costs stickiness, not the request. */
  async #readStore(key: string): Promise<Binding | undefined> {
    try {
      return await this.#options.store.get(key);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a sticky binding could not be read');
      return undefined;
    }
  }

  /** The binding that was used last counts: the store may have missed one as well. */
  #check(key: string, stored: Binding | undefined): void {
    const known = this.#known.get(key);
    const checkedMs = this.#options.now();
    if (stored && !(known && known.storedMs >= stored.expiresAtMs)) {
      const serial = known?.serial ?? 0;
      this.#remember(key, { ...stored, storedMs: stored.expiresAtMs, serial, checkedMs });
    } else if (known) this.#remember(key, { ...known, checkedMs });
  }
}

/** The same everywhere, also where two instances have bound a session in the same millisecond. */
function isNewer(a: Pick<Known, 'serial' | 'slotId'>, b: { serial: number; slotId: string | null }): boolean {
  return a.serial === b.serial ? a.slotId > (b.slotId ?? '') : a.serial > b.serial;
}

/** A duration, for the clocks of instances differ. */
type Told = readonly [key: string, slotId: string | null, ttlMs: number, serial: number];

const topic = 'slots/bound';

/** How many may be read at a time. */
const mostRead = 1000;

/** How long it is trusted that another instance would have told of a change. */
const trustedMs = 60_000;

/** How long a request waits for the store. */
const waitMs = 250;
