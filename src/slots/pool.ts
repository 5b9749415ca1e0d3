import type {
  Caches,
  DiagnosisStep,
  Json,
  LeaseRequest,
  Live,
  Logger,
  Models,
  Slot,
  SlotLease,
  Slots,
  SlotStatus,
  Store,
} from '../plugin/index.js';
import type { SlotConfig } from '../config/config.js';
import { Bindings } from './sticky/bindings.js';
import type { PoolContext } from './selection/pool-context.js';
import { DelayedRetry } from './selection/delayed-retry.js';
import { partsOf, slotKeys } from './shared/shared-slot-state.js';
import type { Adapters } from './open-slot.js';
import { PlaceQueue } from './selection/place-queue.js';
import { leastLoaded, placesOf } from './selection/loads.js';
import { PersistedStates } from './shared/persisted-states.js';
import { Prober } from './health/prober.js';
import { poolClosed } from './refusal.js';
import { SlotRegistry } from './slot-registry.js';
import { Acquisition } from './selection/acquisition.js';
import { SessionClaims } from './sticky/session-claims.js';
import { wantedModel, type SlotEntry } from './slot-entry.js';
import { PlaceBook } from './slot-places.js';
import { statusOf } from './status.js';
import { setUnrefTimer, type SetTimer } from './timers.js';
import { renewedTopic } from './accounts/token-store.js';
import { FairQueueing } from './selection/fair-queueing.js';
import type { UpstreamSlot } from './upstream-slot.js';
import { EarliestTimer } from './selection/earliest-timer.js';

export interface SlotPoolOptions {
  readonly slots: readonly SlotConfig[];
  readonly adapters: Adapters;
  readonly models: Models;
  readonly store: Pick<Store, 'bindings' | 'credentials' | 'slotStates'>;
  /** State shared by the pools of all instances: slot states, permits, bindings. */
  readonly live: Live;
  readonly log: Logger;
  readonly now?: () => number;
  readonly setTimer?: SetTimer;
}

/** Parts that a reload may replace besides the slots. */
export type Replacements = Partial<Pick<SlotPoolOptions, 'adapters' | 'models'>>;

/**
 * Pool of all slots: states, permits and the queue of waiting requests. All but the queue is shared by the
 * instances.
 */
export class SlotPool implements Slots {
  readonly #options: SlotPoolOptions & { readonly now: () => number; readonly setTimer: SetTimer };
  readonly #now: () => number;
  readonly #places: PlaceBook;
  readonly #roster: SlotRegistry;
  readonly #states: PersistedStates;
  readonly #queue: PlaceQueue;
  readonly #bindings: Bindings;
  readonly #prober: Prober;
  readonly #wakeTimer: EarliestTimer;
  readonly #turns: FairQueueing;
  readonly #laterLooks: DelayedRetry;
  readonly #grounds: PoolContext;
  readonly #stopListening: readonly (() => void)[];
  #adapters: Adapters;
  #models: Models;
  #isClosed = false;
  #version = 0;

  private constructor(options: SlotPoolOptions) {
    const { adapters, models, store, live, log, now = Date.now, setTimer = setUnrefTimer } = options;
    this.#options = { ...options, now, setTimer };
    this.#adapters = adapters;
    this.#models = models;
    this.#now = now;
    const offer = (id: string): void => this.#queue.offer(id);
    this.#places = new PlaceBook(live.places, offer);
    const onRestored = (key: string, value: Json): void => this.#hear(key, value);
    const { shared } = live;
    this.#states = new PersistedStates({ shared, store: store.slotStates, log, now, setTimer, onRestored });
    this.#roster = new SlotRegistry(this.#places, { shared: this.#states, setTimer, now });
    this.#queue = new PlaceQueue({ setTimer, now, hasRoom: (id) => this.#roster.find(id)?.hasRoom ?? false });
    this.#laterLooks = new DelayedRetry(setTimer, offer);
    const isHeldElsewhere = (id: string): boolean => this.#places.of(id).heldElsewhere > 0;
    this.#turns = new FairQueueing({ live, queue: this.#queue, now, setTimer, isHeldElsewhere });
    this.#bindings = new Bindings({ store: store.bindings, messages: live.messages, log, now, setTimer });
    this.#wakeTimer = new EarliestTimer(setTimer, () => this.#changed());
    const onAccepted = (): void => this.#changed();
    this.#prober = new Prober({ live, log, now, setTimer, models: () => this.#models, onAccepted });
    this.#grounds = this.#groundsOf(this.#options);
    this.#stopListening = [
      live.shared.watch(slotKeys, (key, value) => this.#hear(key, value)),
      live.messages.receive(renewedTopic, (id) =>
        this.#roster.entries.find((entry) => entry.id === id)?.slot.account.renewedElsewhere(),
      ),
    ];
  }

  /** Opens the upstreams of all slots. Throws the error of an adapter, and then leaves none open. */
  static async open(options: SlotPoolOptions): Promise<SlotPool> {
    const pool = new SlotPool(options);
    try {
      await pool.#states.load();
      await pool.reload(options.slots);
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Number of ready slots. */
  get schedulable(): number {
    return this.#ready(this.#roster.entries).length;
  }

  get caches(): Caches {
    const waiting = () => ({ entries: this.#queue.size, capacity: this.#queueCapacity });
    return { ...this.#bindings.caches, waiting_requests: waiting, cool_downs: () => this.#roster.coolDowns };
  }

  /** Leases a slot. Not async, because the acquisition is. */
  lease(request: LeaseRequest): Promise<SlotLease> {
    if (this.#isClosed) return Promise.reject(poolClosed());
    return new Acquisition(this.#grounds, request, wantedModel(this.#models, request.model)).first();
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

  /** Permits held by this instance, by slot. */
  held(): readonly { readonly id: string; readonly count: number }[] {
    return this.#roster.entries.map(({ id, places }) => ({ id, count: places.held }));
  }

  account(stickyKey?: string): Slot | undefined {
    const accounts = this.#roster.entries.filter(({ slot }) => slot.accountKind === 'oauth');
    const boundId = stickyKey === undefined ? undefined : this.#bindings.peek(stickyKey);
    const bound = accounts.find(({ id }) => id === boundId);
    const ready = this.#ready(accounts);
    return (bound ?? leastLoaded(ready) ?? leastLoaded(accounts))?.slot;
  }

  /** Pauses a slot: no new requests until it is resumed; those in flight continue. */
  pause(id: string): void {
    this.#roster.get(id).operatorState = 'paused';
    this.#changed();
  }

  /** Drains a slot before its removal; otherwise the same as `pause`. */
  drain(id: string): void {
    this.#roster.get(id).operatorState = 'draining';
    this.#changed();
  }

  /** Resumes a slot, after a pause, drain, rejection or cooldown. */
  resume(id: string): void {
    this.#roster.get(id).reset();
    this.#changed();
  }

  /** Slots that can list their models; by default those that serve any model. */
  modelSources(isWanted = servesAnyModel): readonly UpstreamSlot[] {
    const open = this.#roster.entries.filter(({ config }) => isWanted(config));
    return open.map(({ slot }) => slot).filter(({ listsModels }) => listsModels);
  }

  async diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    return this.#roster.get(id).slot.diagnose(signal);
  }

  /**
   * Applies the slots of a new config and keeps states by id; a replaced upstream closes after its last
   * request. Throws the error of an adapter; then nothing has changed.
   */
  async reload(slots: readonly SlotConfig[], replacements: Replacements = {}): Promise<void> {
    const { adapters = this.#adapters, models = this.#models } = replacements;
    const { store, live, log, now, setTimer } = this.#options;
    const { credentials } = store;
    const surroundings = { adapters, credentials, live, shared: this.#states, log, now, setTimer };
    await this.#roster.reload(slots, surroundings);
    this.#adapters = adapters;
    this.#models = models;
    this.#changed();
  }

  /** Refuses waiting requests, writes pending state, and closes every upstream. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear(poolClosed());
    for (const stop of this.#stopListening) stop();
    for (const part of [this.#wakeTimer, this.#prober, this.#turns, this.#laterLooks, this.#places])
      part.close();
    await Promise.all([this.#bindings.close(), this.#states.close()]);
    await this.#roster.close();
  }

  get #queueCapacity(): number {
    return placesOf(this.#roster.entries) * waitingPerPlace;
  }

  #groundsOf({ live, log, now }: Pick<SlotPoolOptions, 'live' | 'log'> & { now: () => number }): PoolContext {
    return {
      queue: this.#queue,
      turns: this.#turns,
      bindings: this.#bindings,
      claims: new SessionClaims(live),
      log,
      now,
      entries: () => this.#roster.entries,
      queueCapacity: () => this.#queueCapacity,
      changed: () => this.#changed(),
      version: () => this.#version,
      lookAgain: (id) => this.#laterLooks.at(id),
      freed: (id) => this.#queue.offer(id),
      isClosed: () => this.#isClosed,
    };
  }

  /** Merges a message of another instance. Ignores deletions, which are only the cleanup of an instance. */
  #hear(key: string, value: Json | undefined): void {
    if (value === undefined) return;
    this.#roster.hear(partsOf(key), value);
    this.#changed();
  }

  /**
   * Applies a change of state: wakes the queue, now and at the end of the next cooldown, and has rejected
   * slots probed.
   */
  #changed(): void {
    if (this.#isClosed) return;
    this.#version += 1;
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

function servesAnyModel({ models }: SlotConfig): boolean {
  return models.includes('*');
}

/** Max waiting requests per permit. */
const waitingPerPlace = 10;
