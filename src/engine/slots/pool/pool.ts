import {
  systemClock,
  type Caller,
  type Clock,
  type Json,
  type Models,
  type Slot,
  type SlotLease,
  type SlotPicker,
} from '../../../plugin/index.js';
import type { Caches, LeaseRequest, PickTerms, Slots, SlotStatus } from '../../../plugin/core.js';
import type { DiagnosisStep } from '../../../plugin/upstream/index.js';
import type { SlotConfig } from '../../../config/config.js';
import { Bindings } from '../sticky/bindings.js';
import type { Replacements, SlotPoolOptions } from './pool-options.js';
import type { PoolContext } from '../selection/pool-context.js';
import { DelayedRetry, EarliestTimer } from '../timing.js';
import { partsOf, slotKeys } from '../replicated/shared-slot-state.js';
import type { SlotLoader } from '../open-slot.js';
import { PermitQueue } from '../selection/permit-queue.js';
import { leastLoadedSlot, queueCapacity } from '../selection/policies.js';
import { PersistedStates } from '../replicated/persisted-states.js';
import { Prober } from '../health/prober.js';
import { WaysOut } from '../health/ways-out.js';
import { modelNotFound, poolClosed } from '../refusal.js';
import { SlotRegistry } from './slot-registry.js';
import { RequestPicker } from '../selection/request-picker.js';
import { mayUseSlot } from '../selection/slot-access.js';
import { SessionClaims } from '../sticky/session-claims.js';
import { SessionOrigins } from '../sticky/session-origins.js';
import { ServedNames } from './served-names.js';
import type { SlotEntry } from './slot-entry.js';
import { snapshotOf, type PoolSnapshot } from './snapshot.js';
import { PermitRegistry } from './slot-permits.js';
import { statusOf } from './status.js';
import { renewedTopic } from '../accounts/slot-tokens.js';
import { FairQueueing } from '../selection/fair-queueing.js';
import type { UpstreamSlot } from '../upstream/upstream-slot.js';

/** Pool of all slots: states, permits and the queue of requests; all but the queue is shared by the instances. */
export class SlotPool implements Slots {
  readonly #options: TimedOptions;
  readonly #now: () => number;
  readonly #permits: PermitRegistry;
  readonly #registry: SlotRegistry;
  readonly #states: PersistedStates;
  readonly #queue: PermitQueue;
  readonly #bindings: Bindings;
  readonly #prober: Prober;
  readonly #cooldownTimer: EarliestTimer;
  readonly #fairness: FairQueueing;
  readonly #retries: DelayedRetry;
  readonly #waysOut = new WaysOut();
  readonly served = new ServedNames(
    () => this.#registry.entries,
    () => this.#models,
  );
  readonly #context: PoolContext;
  readonly #stopListening: readonly (() => void)[];
  readonly #listeners: (() => void)[] = [];
  /** Calls `listener` whenever the state of a slot may have changed. */
  readonly watch = (listener: () => void): void => void this.#listeners.push(listener);
  #plugins: SlotLoader;
  #models: Models;
  #isClosed = false;
  #hasStarted = false;
  #version = 0;

  private constructor(options: SlotPoolOptions) {
    const { plugins, models, store, live, log, clock = systemClock } = options;
    this.#options = { ...options, clock };
    this.#plugins = plugins;
    this.#models = models;
    this.#now = clock.now;
    const offer = (id: string): void => this.#queue.offer(id);
    this.#permits = new PermitRegistry(live.permits, offer);
    const onRestored = (key: string, value: Json): void => this.#merge(key, value);
    const { shared } = live;
    this.#states = new PersistedStates({ shared, store: store.slotStates, log, clock, onRestored });
    const parts = { shared: this.#states, clock, models: () => this.#models };
    this.#registry = new SlotRegistry(this.#permits, parts);
    this.#queue = new PermitQueue({
      clock,
      hasRoom: (id) => this.#registry.find(id)?.hasRoom ?? false,
    });
    this.#retries = new DelayedRetry(clock, offer);
    const isHeldElsewhere = (id: string): boolean => this.#permits.of(id).heldElsewhere > 0;
    this.#fairness = new FairQueueing({ live, queue: this.#queue, clock, isHeldElsewhere });
    this.#bindings = new Bindings({ store: store.bindings, messages: live.messages, log, clock });
    this.#cooldownTimer = new EarliestTimer(clock, () => this.#changed());
    const onAccepted = (): void => this.#changed();
    this.#prober = new Prober({ live, log, clock, models: () => this.#models, onAccepted });
    this.#context = this.#contextOf(this.#options);
    this.#stopListening = [
      live.shared.watch(slotKeys, (key, value) => this.#merge(key, value)),
      live.messages.receive(renewedTopic, (id) =>
        this.#registry.entries.find((entry) => entry.id === id)?.slot.account.renewedElsewhere(),
      ),
    ];
  }

  /** Opens the upstreams of all slots. Throws the error of a plugin, and then leaves none open. */
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
    return this.#ready(this.#registry.entries).length;
  }

  get caches(): Caches {
    const waiting = () => ({ entries: this.#queue.size, capacity: queueCapacity(this.#registry.entries) });
    return {
      ...this.#bindings.caches,
      waiting_requests: waiting,
      cool_downs: () => this.#registry.cooldowns,
    };
  }

  lease(request: LeaseRequest): Promise<SlotLease> {
    return this.picker(request).lease(request.request);
  }

  picker(terms: PickTerms): SlotPicker {
    return new RequestPicker(this.#context, terms, () => this.#models);
  }

  get(id: string): UpstreamSlot | undefined {
    return this.#registry.find(id)?.slot;
  }

  pricesOf(id: string): UpstreamSlot['prices'] | undefined {
    return this.#registry.pricesOf(id);
  }

  secretsOf(id: string): readonly string[] {
    return this.#registry.secretsOf(id);
  }

  list(): readonly SlotStatus[] {
    const bindings = this.#bindings.counts();
    return this.#registry.entries.map((entry) => {
      const counts = { queued: this.#queue.count(entry.id), bindings: bindings.get(entry.id) ?? 0 };
      return statusOf(entry, counts, this.#now());
    });
  }

  /** Slots as they are configured, and their state now, for a copy of the pool; sessions are those of one key. */
  snapshot(keyId: string): PoolSnapshot {
    const { live } = this.#options;
    return snapshotOf(this.#registry.entries, { shared: live.shared, bindings: this.#bindings, keyId });
  }

  /** Permits held by this instance, by slot. */
  held(): readonly { readonly id: string; readonly count: number }[] {
    return this.#registry.entries.map(({ id, permits }) => ({ id, count: permits.held }));
  }

  /** Slot with usage windows: that of the session, else the least loaded, a ready one if there is one. */
  account(stickyKey?: string, caller: Pick<Caller, 'slots'> = {}): Slot | undefined {
    const isAllowed = mayUseSlot(caller);
    const accounts = this.#registry.entries.filter(({ id, slot }) => slot.reportsWindows && isAllowed(id));
    const boundId = stickyKey === undefined ? undefined : this.#bindings.peek(stickyKey);
    const bound = accounts.find(({ id }) => id === boundId);
    const ready = this.#ready(accounts);
    return (bound ?? leastLoadedSlot(ready) ?? leastLoadedSlot(accounts))?.slot;
  }

  /** Pauses a slot: no new requests until it is resumed; those in flight continue. */
  pause(id: string): void {
    this.#registry.get(id).operatorState = 'paused';
    this.#changed();
  }

  /** Drains a slot before its removal; otherwise the same as `pause`. */
  drain(id: string): void {
    this.#registry.get(id).operatorState = 'draining';
    this.#changed();
  }

  /** Resumes a slot, after a pause, drain, rejection or cooldown. */
  resume(id: string): void {
    this.#registry.get(id).reset();
    this.#changed();
  }

  /** Slots that can list their models; by default those that serve any model. */
  modelSources(isWanted = servesAnyModel): readonly UpstreamSlot[] {
    const open = this.#registry.entries.filter(({ config }) => isWanted(config));
    return open.map(({ slot }) => slot).filter(({ listsModels }) => listsModels);
  }

  async diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]> {
    return this.#registry.get(id).slot.diagnose(signal);
  }

  /** Slots as they are open now. */
  get opened(): readonly UpstreamSlot[] {
    return this.#registry.entries.map(({ slot }) => slot);
  }

  /** Starts the slots; those that a reload adds are started by it. Throws a ConfigError with all problems. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    await this.#registry.start(this.#plugins.timeoutMs);
  }

  /**
   * Applies the slots of a new config and keeps states by id; a replaced upstream closes after its last
   * request. Throws the error of a plugin; then nothing has changed.
   */
  async reload(slots: readonly SlotConfig[], replacements: Replacements = {}): Promise<void> {
    const { plugins = this.#plugins, models = this.#models } = replacements;
    const { store, live, log, clock, openClient } = this.#options;
    const { credentials } = store;
    const options = { plugins, credentials, live, shared: this.#states, log, clock, openClient };
    await this.#registry.reload(slots, { ...options, starts: this.#hasStarted });
    this.#plugins = plugins;
    this.#models = models;
    this.#waysOut.prune((proxy) => slots.some((slot) => slot.proxy === proxy));
    this.#changed();
  }

  /** Refuses waiting requests, writes pending state, and closes every upstream. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.clear(poolClosed());
    for (const stop of this.#stopListening) stop();
    this.#cooldownTimer.cancel();
    for (const part of [this.#prober, this.#fairness, this.#retries, this.#permits]) part.close();
    await Promise.all([this.#bindings.close(), this.#states.close()]);
    await this.#registry.close();
  }

  #contextOf({ live, log, clock, onChoice, priceGaps = noGaps }: TimedOptions): PoolContext {
    return {
      queue: this.#queue,
      fairness: this.#fairness,
      bindings: this.#bindings,
      claims: new SessionClaims(live),
      origins: new SessionOrigins(live.shared),
      log,
      waysOut: this.#waysOut,
      clock,
      priceGaps,
      now: clock.now,
      entries: () => this.#registry.entries,
      notServed: (model) => modelNotFound(model, this.served.names),
      queueCapacity: () => queueCapacity(this.#registry.entries),
      changed: () => this.#changed(),
      changedSoon: () => queueMicrotask(() => this.#changed()),
      version: () => this.#version,
      retryLater: (id) => this.#retries.schedule(id),
      freed: (id) => this.#queue.offer(id),
      isClosed: () => this.#isClosed,
      onChoice,
    };
  }

  /** Merges a message of another instance. Ignores deletions, which are only the cleanup of an instance. */
  #merge(key: string, value: Json | undefined): void {
    if (value === undefined) return;
    this.#registry.merge(partsOf(key), value);
    this.#changed();
  }

  /** Applies a change of state: wakes the queue, now and at the next change, and has rejected slots probed. */
  #changed(): void {
    if (this.#isClosed) return;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
    this.#queue.wake();
    this.#prober.watch(this.#registry.entries.filter(({ isRejected }) => isRejected));
    const nowMs = this.#now();
    const times = this.#registry.entries.flatMap(({ cooldowns }) => cooldowns.changeTimes(nowMs));
    this.#cooldownTimer.arm(times, nowMs);
  }

  #ready(entries: readonly SlotEntry[]): readonly SlotEntry[] {
    return entries.filter((entry) => entry.state(this.#now()) === 'ready');
  }
}

function servesAnyModel({ models, upstreamModels, discovers }: SlotConfig): boolean {
  return discovers ?? (models.includes('*') && upstreamModels?.['*'] === undefined);
}

const noGaps = (): readonly never[] => [];

type TimedOptions = SlotPoolOptions & { readonly clock: Clock };
