import { globMatcher, type Clock, type Json, type Models } from '../../../plugin/index.js';
import type { SharedMap, SlotState } from '../../../plugin/core.js';
import type { SlotConfig } from '../../../config/config.js';
import { SharedSlotState } from '../replicated/shared-slot-state.js';
import type { Cooldown, Cooldowns } from '../health/cooldowns.js';
import type { FailureCause } from '../health/failure-cause.js';
import { AnsweredModels } from '../health/answered-models.js';
import { FirstTokenTimes } from '../health/first-token-times.js';
import { isNamed, ModelNames } from '../model-names.js';
import { LwwRegister, type Stamped } from '../replicated/lww-register.js';
import type { SlotPermits } from './slot-permits.js';
import type { UpstreamSlot } from '../upstream/upstream-slot.js';

/** Model wanted by a request, by both of its names. */
export interface WantedModel {
  /** Catalog id, or the name that the caller used. */
  readonly id: string;
  /** Catalog's name for upstreams; a slot may have its own. */
  readonly upstreamModel: string;
  readonly isInCatalog: boolean;
  /** Further names that the catalog has for it; absent: none. */
  readonly aliases?: readonly string[] | undefined;
}

/** Finds a model by the name that the caller used. */
export function wantedModel(models: Models, name: string): WantedModel {
  const found = models.find(name);
  return {
    id: found?.id ?? name,
    upstreamModel: found?.upstreamModel ?? name,
    isInCatalog: found !== undefined,
    aliases: found?.aliases,
  };
}

export type OperatorState = 'paused' | 'draining' | undefined;

export interface EntryParts {
  readonly permits: SlotPermits;
  readonly shared: SharedMap;
  readonly clock: Clock;
  /** Catalog; another one after a reload. */
  readonly models: () => Models;
}

/**
 * Slot in the pool: its config, state and use. Outlives the upstream and settings that a reload replaces.
 */
export class SlotEntry {
  readonly permits: SlotPermits;
  /** Position in the config file, from 0. */
  order: number;
  /** Organization of the account, to which signed thinking is bound. */
  organization: string;
  readonly #shared: SharedSlotState;
  readonly #lastError: LwwRegister<FailureCause | null>;
  readonly firstTokens = new FirstTokenTimes();
  readonly #answered = new AnsweredModels();
  readonly #models: () => Models;
  /** Server errors since the last success, as far as this instance knows. */
  serverErrors = 0;
  #operatorState: OperatorState;
  #config: SlotConfig;
  #slot: UpstreamSlot;
  #matches: (model: string) => boolean;
  #names: ModelNames;

  constructor(config: SlotConfig, order: number, slot: UpstreamSlot, parts: EntryParts) {
    this.#config = config;
    this.#slot = slot;
    this.organization = organizationOf(config, slot);
    slot.discovered.configure(config);
    slot.prices = config;
    this.#matches = globMatcher(config.models);
    this.#names = new ModelNames(config);
    this.order = order;
    this.permits = parts.permits;
    this.#models = parts.models;
    this.#shared = new SharedSlotState(parts.shared, config.id);
    const { clock } = parts;
    this.#lastError = new LwwRegister<FailureCause | null>(null, {
      now: clock.now,
      publish: (message) => this.#shared.publish('last-error', message, errorKeptMs),
      throttle: { clock, everyMs: errorEveryMs },
    });
    for (const [topic, value] of this.#shared.all()) this.merge(topic, value);
  }

  get id(): string {
    return this.#config.id;
  }

  get config(): SlotConfig {
    return this.#config;
  }

  get slot(): UpstreamSlot {
    return this.#slot;
  }

  get cooldowns(): Cooldowns {
    return this.#slot.health.cooldowns;
  }

  get isRejected(): boolean {
    return this.#slot.health.isRejected;
  }

  /** State set by the operator. */
  get operatorState(): OperatorState {
    return this.#operatorState;
  }

  set operatorState(state: OperatorState) {
    this.#operatorState = state;
    this.#shared.publish('operator', state ?? null);
  }

  /** Last failure since the last success of the slot. */
  get lastError(): FailureCause | null {
    return this.#lastError.value;
  }

  /** Keeps a failure until the slot has recovered. */
  noteError(cause: FailureCause): void {
    this.#lastError.set(cause);
  }

  /** Clears the last error after a successful call or probe, unless a cooldown is still active. */
  noteSuccess(nowMs: number, upstreamModel?: string): void {
    this.serverErrors = 0;
    if (upstreamModel !== undefined) this.#answered.note(upstreamModel, nowMs);
    if (this.#lastError.value && this.cooldowns.list(nowMs).length === 0) this.#lastError.set(null);
  }

  get inFlight(): number {
    return this.permits.inFlight;
  }

  /** True if a permit is free, as far as this instance knows. */
  get hasRoom(): boolean {
    return this.permits.hasRoom(this.#config.maxConcurrent);
  }

  serves(model: WantedModel): boolean {
    const { discovered } = this.#slot;
    if (discovered.isOn) return discovered.serves(model);
    return model.isInCatalog ? isNamed(model, this.#matches) : this.#config.models.includes('*');
  }

  /** Name of a model at the slot's upstream. */
  upstreamModel(model: Pick<WantedModel, 'id' | 'upstreamModel' | 'aliases'>): string {
    return this.#slot.discovered.idOf(model) ?? this.#names.of(model);
  }

  state(nowMs: number): SlotState {
    if (this.#operatorState) return this.#operatorState;
    if (this.isRejected) return 'rejected';
    return this.cooldown(nowMs) ? 'cooling' : 'ready';
  }

  /**
   * Cooldown that keeps the slot from serving anything: one of the whole slot, else the first to end of those of all
   * its models. Slots are picked by model anyway.
   */
  cooldown(nowMs: number): Cooldown | undefined {
    const { cooldowns } = this;
    const ofSlot = cooldowns.active(undefined, nowMs);
    if (ofSlot || cooldowns.list(nowMs).length === 0) return ofSlot;
    const ofModels = this.#servedModels(nowMs).map((model) => cooldowns.active(model, nowMs));
    const cooling = ofModels.filter((each) => each !== undefined);
    if (cooling.length < ofModels.length) return undefined;
    return cooling.toSorted((a, b) => a.untilMs - b.untilMs)[0];
  }

  /** Upstream models that the slot lists; without a list, those that it has answered lately. */
  #servedModels(nowMs: number): readonly string[] {
    const { discovered } = this.#slot;
    if (discovered.isOn && discovered.list.length > 0) return discovered.list.map(({ id }) => id);
    const { models } = this.#config;
    if (discovered.isOn || models.some((name) => name.includes('*'))) return this.#answered.list(nowMs);
    return models.map((name) => this.upstreamModel(wantedModel(this.#models(), name)));
  }

  /** True if the slot is ready, also for this model, or is due for a probe during its cooldown. */
  isSchedulable(model: WantedModel, nowMs: number): boolean {
    return this.#isOpen && !this.cooldowns.blocks(this.upstreamModel(model), nowMs);
  }

  /** True if a request that no other slot serves may probe the slot during its cooldown. */
  mayBeAsked(model: WantedModel, nowMs: number): boolean {
    return this.isSchedulable(model, nowMs) || !this.cooldowns.refusesAsks(this.upstreamModel(model), nowMs);
  }

  /** Cooldown that keeps the slot from serving the model; undefined if something else closes the slot. */
  cooldownFor(model: Pick<WantedModel, 'id' | 'upstreamModel'>, nowMs: number): Cooldown | undefined {
    return this.#isOpen ? this.cooldowns.active(this.upstreamModel(model), nowMs) : undefined;
  }

  /**
   * Resets the slot to ready on an operator's request: clears pause, drain, last error, rejection and
   * cooldowns.
   */
  reset(): void {
    this.operatorState = undefined;
    this.#lastError.set(null);
    this.serverErrors = 0;
    this.#slot.health.clearFailures();
  }

  /** Applies the settings of a reload, with a new `slot` if another upstream was opened for them. */
  configure(config: SlotConfig, order: number, slot: UpstreamSlot | undefined): void {
    this.#config = config;
    this.#matches = globMatcher(config.models);
    this.#names = new ModelNames(config);
    this.order = order;
    if (slot) this.#slot = slot;
    this.organization = organizationOf(config, this.#slot);
    this.#slot.discovered.configure(config);
    this.#slot.prices = config;
  }

  /** Merges a message of another instance about the slot, independent of its account. */
  merge(topic: string, value: Json): void {
    if (topic === 'operator') this.#operatorState = operatorStates.find((state) => state === value);
    else if (topic === 'last-error') this.#lastError.merge(value as Stamped<FailureCause | null>); // as published above
  }

  stop(): void {
    this.#lastError.stop();
    this.#slot.health.stop();
  }

  /** Stops the slot and deletes its shared state, after a reload has removed it. */
  leave(): void {
    this.stop();
    this.#shared.leave();
  }

  get #isOpen(): boolean {
    return !this.#operatorState && !this.isRejected;
  }
}

function organizationOf({ organization, upstream }: SlotConfig, { baseUrl = '' }: UpstreamSlot): string {
  return organization ?? `${upstream} ${baseUrl}`;
}

const operatorStates = ['paused', 'draining'] as const;

/** Throttle for published errors: if every call fails, not every error must be published. */
const errorEveryMs = 100;
const errorKeptMs = 8 * 24 * 3_600_000;
