import { globMatcher, type Json, type Models, type SharedMap, type SlotState } from '../plugin/index.js';
import type { SlotConfig } from '../config/config.js';
import { SharedSlotState } from './shared/shared-slot-state.js';
import type { CoolDown, CoolDowns } from './health/cooldowns.js';
import { LwwRegister, type Told } from './shared/lww-register.js';
import type { SlotPlaces } from './slot-places.js';
import type { SetTimer } from './timers.js';
import type { UpstreamSlot } from './upstream-slot.js';

/** The model that a request wants, by both of its names. */
export interface WantedModel {
  /** The catalog id, or what the caller wrote. */
  readonly id: string;
  readonly upstreamModel: string;
  readonly isInCatalog: boolean;
}

/** By what a caller calls it. */
export function wantedModel(models: Models, name: string): WantedModel {
  const found = models.find(name);
  return {
    id: found?.id ?? name,
    upstreamModel: found?.upstreamModel ?? name,
    isInCatalog: found !== undefined,
  };
}

export type OperatorState = 'paused' | 'draining' | undefined;

export interface EntryParts {
  readonly places: SlotPlaces;
  readonly shared: SharedMap;
  readonly setTimer: SetTimer;
  readonly now: () => number;
}

/** A slot's place in the pool: its config, its state, and how much of it is in use. Outlives what a reload replaces. */
export class SlotEntry {
  readonly places: SlotPlaces;
  /** Position in the config file, from 0. */
  order: number;
  readonly #board: SharedSlotState;
  readonly #lastError: LwwRegister<LastError | null>;
  #operatorState: OperatorState;
  #config: SlotConfig;
  #slot: UpstreamSlot;
  #matches: (model: string) => boolean;

  constructor(config: SlotConfig, order: number, slot: UpstreamSlot, parts: EntryParts) {
    this.#config = config;
    this.#slot = slot;
    this.#matches = globMatcher(config.models);
    this.order = order;
    this.places = parts.places;
    this.#board = new SharedSlotState(parts.shared, config.id);
    this.#lastError = new LwwRegister(null, { ...parts, everyMs: errorEveryMs }, (told) =>
      this.#board.tell('last-error', told, errorKeptMs),
    );
    for (const [topic, value] of this.#board.all()) this.hear(topic, value);
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

  get coolDowns(): CoolDowns {
    return this.#slot.standing.coolDowns;
  }

  get isRejected(): boolean {
    return this.#slot.standing.isRejected;
  }

  /** What the operator has said. */
  get operatorState(): OperatorState {
    return this.#operatorState;
  }

  set operatorState(state: OperatorState) {
    this.#operatorState = state;
    this.#board.tell('operator', state ?? null);
  }

  /** The last failure since the slot last worked. */
  get lastError(): LastError | null {
    return this.#lastError.value;
  }

  /** Keeps a failure until the slot has recovered. */
  noteError(message: string, atMs: number): void {
    this.#lastError.set({ message, atMs });
  }

  /** A call or a probe has succeeded: unless a model still cools down, nothing is the matter any more. */
  noteSuccess(nowMs: number): void {
    if (this.#lastError.value && this.coolDowns.list(nowMs).length === 0) this.#lastError.set(null);
  }

  get inFlight(): number {
    return this.places.inFlight;
  }

  /** As far as it is known here. */
  get hasRoom(): boolean {
    return this.places.hasRoom(this.#config.maxConcurrent);
  }

  serves({ id, isInCatalog }: WantedModel): boolean {
    return isInCatalog ? this.#matches(id) : this.#config.models.includes('*');
  }

  state(nowMs: number): SlotState {
    if (this.#operatorState) return this.#operatorState;
    if (this.isRejected) return 'rejected';
    return this.coolDowns.active(undefined, nowMs) ? 'cooling' : 'ready';
  }

  /** Ready, also for this model. */
  isSchedulable(model: WantedModel, nowMs: number): boolean {
    return this.#isOpen && !this.coolDowns.active(model.upstreamModel, nowMs);
  }

  /** The cool-down that keeps it from serving the model, where it is nothing but a cool-down. */
  coolDownFor(model: WantedModel, nowMs: number): CoolDown | undefined {
    return this.#isOpen ? this.coolDowns.active(model.upstreamModel, nowMs) : undefined;
  }

  /** Ready again, whatever was the matter: the operator says so. */
  reset(): void {
    this.operatorState = undefined;
    this.#lastError.set(null);
    this.#slot.standing.forgive();
  }

  /** Takes the settings of a reload; a `slot` where another upstream was opened for them, to replace the one there was. */
  configure(config: SlotConfig, order: number, slot: UpstreamSlot | undefined): void {
    this.#config = config;
    this.#matches = globMatcher(config.models);
    this.order = order;
    if (slot) this.#slot = slot;
  }

  /** Takes what another instance tells of the slot, whatever its account. */
  hear(topic: string, value: Json): void {
    if (topic === 'operator') this.#operatorState = operatorStates.find((state) => state === value);
    else if (topic === 'last-error') this.#lastError.hear(value as Told<LastError | null>); // as it was told above
  }

  stop(): void {
    this.#lastError.stop();
    this.#slot.standing.stop();
  }

  /** The slot has been taken away. */
  leave(): void {
    this.stop();
    this.#board.leave();
  }

  get #isOpen(): boolean {
    return !this.#operatorState && !this.isRejected;
  }
}

/** A failure in words, and its time in unix milliseconds. */
export interface LastError {
  readonly [field: string]: string | number;
  readonly message: string;
  readonly atMs: number;
}

const operatorStates = ['paused', 'draining'] as const;

/** Where every call fails, not every one has to be told of. */
const errorEveryMs = 100;
const errorKeptMs = 8 * 24 * 3_600_000;
