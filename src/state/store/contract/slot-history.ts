import type { SlotState } from '../../../plugin/core.js';
import { type StepResult } from '../../step-result.js';

/** Change of a slot's state; it lasts until the next one. */
export interface SlotChange {
  readonly slot: string;
  /** Unix milliseconds, as all times here. */
  readonly atMs: number;
  readonly state: SlotState;
  /** Reason of a cooldown. */
  readonly reason?: string;
  /** End of a cooldown, as known at its beginning. */
  readonly untilMs?: number;
  /** Upstream models with their own cooldown. */
  readonly models: readonly string[];
  /** HTTP status and code of the failure behind it; not its message, since upstreams quote prompts in theirs. */
  readonly status?: number;
  readonly code?: string;
}

/** Used part of a slot's usage window at a time. */
export interface WindowSample {
  readonly slot: string;
  readonly window: '5h' | '7d';
  readonly atMs: number;
  readonly percentUsed: number;
  readonly resetsAtMs: number;
}

/** History of slots: changes of state, and the use of their windows. */
export interface SlotHistory {
  /**
   * Appends changes, in the order of time, keeping the latest 500 of each slot. Ignores a repetition of the slot's last
   * one, as several instances detect the same change.
   */
  append(changes: readonly SlotChange[]): Promise<void>;
  /** Changes of a slot, newest first. */
  changes(slot: string, limit: number): Promise<readonly SlotChange[]>;
  /** Adds samples; an existing one of the same slot, window and time stays unchanged. */
  sample(samples: readonly WindowSample[]): Promise<void>;
  /** Samples of all slots from `fromMs` on, in the order of time. */
  samples(fromMs: number): Promise<readonly WindowSample[]>;
  /** Deletes at most `limit` changes, and as many samples, from before `beforeMs`. */
  prune(beforeMs: number, limit: number): Promise<StepResult>;
}

/** Changes that are kept of each slot. */
export const maxSlotChanges = 500;
