import type { Logger } from '../../plugin/index.js';
import type { Bindings } from '../sticky/bindings.js';
import type { PlaceQueue } from './place-queue.js';
import type { SessionClaims } from '../sticky/session-claims.js';
import type { SlotEntry } from '../slot-entry.js';
import type { FairQueueing } from './fair-queueing.js';

/** View of the pool for a request that acquires a permit. */
export interface PoolContext {
  readonly queue: PlaceQueue;
  readonly turns: FairQueueing;
  readonly bindings: Bindings;
  readonly claims: SessionClaims;
  readonly log: Logger;
  /** Max waiting requests. */
  readonly queueCapacity: () => number;
  readonly entries: () => readonly SlotEntry[];
  readonly now: () => number;
  /** Announces a changed state, so that waiting requests try again. */
  readonly changed: () => void;
  /** Version number, incremented with every change of state. */
  readonly version: () => number;
  /**
   * Schedules a retry for requests that wait for a slot, which may have room although it has refused a
   * permit.
   */
  readonly lookAgain: (slotId: string) => void;
  /** Announces that a permit of a slot was released. */
  readonly freed: (slotId: string) => void;
  readonly isClosed: () => boolean;
}
