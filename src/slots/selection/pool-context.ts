import type { Logger } from '../../plugin/index.js';
import type { Bindings } from '../sticky/bindings.js';
import type { PlaceQueue } from './place-queue.js';
import type { SessionClaims } from '../sticky/session-claims.js';
import type { SlotEntry } from '../slot-entry.js';
import type { FairQueueing } from './fair-queueing.js';

/** The pool, as a request that looks for a place sees it. */
export interface PoolContext {
  readonly queue: PlaceQueue;
  readonly turns: FairQueueing;
  readonly bindings: Bindings;
  readonly claims: SessionClaims;
  readonly log: Logger;
  /** How many may wait. */
  readonly queueCapacity: () => number;
  readonly entries: () => readonly SlotEntry[];
  readonly now: () => number;
  /** A state is another: whoever waits should look again. */
  readonly changed: () => void;
  /** Another number whenever any state has changed. */
  readonly version: () => number;
  /** Lets those who wait for a slot look again in a moment: it may have room, though there was none to be had. */
  readonly lookAgain: (slotId: string) => void;
  /** A place of a slot was given back. */
  readonly freed: (slotId: string) => void;
  readonly isClosed: () => boolean;
}
