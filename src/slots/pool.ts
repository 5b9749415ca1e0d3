import type {
  DiagnosisStep,
  LeaseRequest,
  Logger,
  Models,
  Slot,
  SlotLease,
  Slots,
  SlotStatus,
  Store,
} from '../plugin/index.js';
import type { SlotConfig } from '../config/config.js';
import { Bindings } from './bindings.js';
import type { Adapters } from './open-slot.js';
import { PlaceQueue } from './place-queue.js';
import { load } from './policies.js';
import { Prober } from './prober.js';
import { poolClosed } from './refusal.js';
import { Roster } from './roster.js';
import { Search, type Grounds } from './search.js';
import type { SlotEntry, WantedModel } from './slot-entry.js';
import { statusOf } from './status.js';
import { setUnrefTimer, type SetTimer } from './timers.js';
import { WakeTimer } from './wake-timer.js';

export interface SlotPoolOptions {
  readonly slots: readonly SlotConfig[];
  readonly adapters: Adapters;
  readonly models: Models;
  readonly store: Pick<Store, 'bindings' | 'credentials'>;
  readonly log: Logger;
  readonly now?: () => number;
  readonly setTimer?: SetTimer;
}

/** What a reload may bring besides the slots. */
export type Replacements = Partial<Pick<SlotPoolOptions, 'adapters' | 'models'>>;

/** All slots of the gateway: their states, who is in which, and who waits. */
export class SlotPool implements Slots {
  readonly #options: SlotPoolOptions;
  readonly #now: () => number;
  readonly #roster = new Roster();
  readonly #queue: PlaceQueue;
  readonly #bindings: Bindings;
  readonly #prober: Prober;
  readonly #wakeTimer: WakeTimer;
  readonly #grounds: Grounds;
  #adapters: Adapters;
  #models: Models;
  #isClosed = false;

  private constructor(options: SlotPoolOptions) {
    const { adapters, models, store, log, now = Date.now, setTimer = setUnrefTimer } = options;
    this.#options = options;
    this.#adapters = adapters;
    this.#models = models;
    this.#now = now;
    this.#queue = new PlaceQueue(setTimer);
    this.#bindings = new Bindings({ store: store.bindings, log, now });
    this.#wakeTimer = new WakeTimer(setTimer, () => this.#changed());
    const onAccepted = (): void => this.#changed();
    this.#prober = new Prober({ log, setTimer, models: () => this.#models, onAccepted });
    this.#grounds = {
      queue: this.#queue,
      bindings: this.#bindings,
      log,
      now,
      entries: () => this.#roster.entries,
      queueCapacity: () => placesOf(this.#roster.entries) * waitingPerPlace,
      changed: () => this.#changed(),
    };
  }

  /** Opens the upstream of every slot; throws what an adapter throws, and then none is left open. */
  static async open(options: SlotPoolOptions): Promise<SlotPool> {
    const pool = new SlotPool(options);
    await pool.reload(options.slots);
    return pool;
  }

  /** How many slots are ready. */
  get schedulable(): number {
    return this.#ready(this.#roster.entries).length;
  }

  async lease(request: LeaseRequest): Promise<SlotLease> {
    if (this.#isClosed) throw poolClosed();
    return new Search(this.#grounds, request, this.#findModel(request.model)).first();
  }

  get(id: string): Slot | undefined {
    return this.#roster.find(id)?.slot;
  }

  list(): readonly SlotStatus[] {
    return this.#roster.entries.map((entry) => {
      const counts = { queued: this.#queue.count(entry.id), bindings: this.#bindings.count(entry.id) };
      return statusOf(entry, counts, this.#now());
    });
  }

  account(stickyKey?: string): Slot | undefined {
    const accounts = this.#roster.entries.filter(({ slot }) => slot.accountKind === 'oauth');
    const boundId = stickyKey === undefined ? undefined : this.#bindings.peek(stickyKey);
    const bound = accounts.find(({ id }) => id === boundId);
    const ready = this.#ready(accounts);
    return (bound ?? leastLoaded(ready) ?? leastLoaded(accounts))?.slot;
  }

  /** The slot takes no new requests until it is resumed; those it has go on. */
  pause(id: string): void {
    this.#roster.get(id).operatorState = 'paused';
    this.#changed();
  }

  /** As `pause`, said where the slot is to be taken away. */
  drain(id: string): void {
    this.#roster.get(id).operatorState = 'draining';
    this.#changed();
  }

  /** Ready again, whatever was the matter with it: paused, draining, rejected or cooling down. */
  resume(id: string): void {
    this.#roster.get(id).reset();
    this.#changed();
  }

  async diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    return this.#roster.get(id).slot.diagnose(signal);
  }

  /**
   * Takes the slots of a new config. States stay by id; what has another upstream or account gets it, and the old one
   * closes when its last request has ended. Throws what an adapter throws: then nothing has changed.
   */
  async reload(slots: readonly SlotConfig[], replacements: Replacements = {}): Promise<void> {
    const { adapters = this.#adapters, models = this.#models } = replacements;
    const { store, log } = this.#options;
    const surroundings = { adapters, credentials: store.credentials, log, now: this.#now };
    await this.#roster.reload(slots, surroundings);
    this.#adapters = adapters;
    this.#models = models;
    this.#changed();
  }

  /** Sends away who waits, writes what is not stored yet, and closes every upstream. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear(poolClosed());
    this.#wakeTimer.cancel();
    this.#prober.close();
    await this.#bindings.flush();
    await this.#roster.close();
  }

  #findModel(name: string): WantedModel {
    const found = this.#models.find(name);
    return {
      id: found?.id ?? name,
      upstreamModel: found?.upstreamModel ?? name,
      isInCatalog: found !== undefined,
    };
  }

  /** Lets those who wait look again, now and when the next cool-down ends, and has the rejected slots probed. */
  #changed(): void {
    if (this.#isClosed) return;
    this.#queue.wake();
    this.#prober.watch(this.#roster.entries.filter(({ isRejected }) => isRejected));
    const nowMs = this.#now();
    const coolDowns = this.#roster.entries.flatMap((entry) => entry.coolDowns.list(nowMs));
    const times = coolDowns.map(({ untilMs }) => untilMs);
    this.#wakeTimer.arm(times, nowMs);
  }

  #ready(entries: readonly SlotEntry[]): readonly SlotEntry[] {
    return entries.filter((entry) => entry.state(this.#now()) === 'ready');
  }
}

function leastLoaded(entries: readonly SlotEntry[]): SlotEntry | undefined {
  return entries.toSorted((a, b) => loadOf(a) - loadOf(b))[0];
}

function loadOf({ inFlight, config: { weight } }: SlotEntry): number {
  return load({ inFlight, weight });
}

function placesOf(entries: readonly SlotEntry[]): number {
  return entries.reduce((sum, { config }) => sum + config.maxConcurrent, 0);
}

/** How many requests may wait for each place there is. */
const waitingPerPlace = 10;
