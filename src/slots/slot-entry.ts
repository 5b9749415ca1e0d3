import { globMatcher, type SlotState } from '../plugin/index.js';
import type { SlotConfig } from '../config/config.js';
import { CoolDowns, type CoolDown } from './cooldowns.js';
import type { UpstreamSlot } from './upstream-slot.js';

/** The model that a request wants, by both of its names. */
export interface WantedModel {
  /** The catalog id, or what the caller wrote. */
  readonly id: string;
  readonly upstreamModel: string;
  readonly isInCatalog: boolean;
}

/** A slot's place in the pool: its config, its state, and how much of it is in use. Outlives what a reload replaces. */
export class SlotEntry {
  readonly coolDowns = new CoolDowns();
  inFlight = 0;
  /** Position in the config file, from 0. */
  order: number;
  /** What the operator has said. */
  operatorState: 'paused' | 'draining' | undefined;
  isRejected = false;
  lastError: string | null = null;
  #config: SlotConfig;
  #slot: UpstreamSlot;
  #matches: (model: string) => boolean;

  constructor(config: SlotConfig, order: number, slot: UpstreamSlot) {
    this.#config = config;
    this.#slot = slot;
    this.#matches = globMatcher(config.models);
    this.order = order;
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

  get hasRoom(): boolean {
    return this.inFlight < this.#config.maxConcurrent;
  }

  serves({ id, isInCatalog }: WantedModel): boolean {
    return isInCatalog ? this.#matches(id) : this.#config.models.includes('*');
  }

  state(nowMs: number): SlotState {
    if (this.operatorState) return this.operatorState;
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
    this.#forgive();
  }

  /** Takes the settings of a reload; a `slot` where another upstream was opened for them, to replace the one there was. */
  configure(config: SlotConfig, order: number, slot: UpstreamSlot | undefined): void {
    this.#config = config;
    this.#matches = globMatcher(config.models);
    this.order = order;
    if (!slot) return;
    if (slot.account !== this.#slot.account) this.#forgive();
    this.#slot = slot;
  }

  #forgive(): void {
    this.isRejected = false;
    this.coolDowns.clear();
  }

  get #isOpen(): boolean {
    return !this.operatorState && !this.isRejected;
  }
}
