import type { CallSignal } from '../http/call-signal.js';
import type { GatewayError } from '../error.js';
import type { Slot, SlotStatus } from './slot.js';

/** What a caller of `lease` wants. */
export interface LeaseRequest {
  /** The catalog id, or the name that the caller sent where the catalog has none. */
  readonly model: string;
  /** The session that should stay on its slot, already scoped to the caller's key. */
  readonly sticky?: { readonly key: string; readonly ttlMs: number };
  readonly policy: PickPolicy;
  /** Whose request it is: where requests wait for places, callers take turns. Those without one are of one caller. */
  readonly caller?: string;
  /** How long to wait for a place where every schedulable slot is full. */
  readonly queueTimeoutMs: number;
  readonly signal: CallSignal;
}

/** A slot as a policy sees it: schedulable, serving the model, with room. */
export interface Candidate {
  readonly id: string;
  readonly weight: number;
  readonly inFlight: number;
  /** Position in the config file, from 0. */
  readonly order: number;
}

/** Picks one of at least one candidates; called again for every request, so it may keep a turn of its own. */
export type PickPolicy = (candidates: readonly Candidate[]) => Candidate;

/** One place in a slot, held for one upstream call after another until it is released. */
export interface SlotLease {
  readonly slot: Slot;
  /** The slot has answered this request: its doubling is reset, its windows are read and the sticky key is bound. */
  answered(headers: Readonly<Record<string, string>>): void;
  /**
   * Reports a failed call, which may change the slot's state, gives its place back, and takes a place in a slot that
   * this request has not tried. Where every slot was tried: the first one again. Undefined where no slot can help.
   */
  another(error: GatewayError): Promise<SlotLease | undefined>;
  /** Reports a failed call, as `another` does, and gives the place back: the request will not be sent once more. */
  failed(error: GatewayError): void;
  /** A place of its own for a further call of the same request, on the same terms. */
  again(): Promise<SlotLease>;
  /** Gives the place back; further calls do nothing. */
  release(): void;
}

/** The pool as plugins see it. */
export interface Slots {
  /**
   * A place in a slot that serves the model. Throws `model_not_found` where no slot's list has it,
   * `no_slot_available` (with `retry-after` where a time is known) where none is schedulable or all stay full, and 429
   * where the only slots have an exhausted window.
   */
  lease(request: LeaseRequest): Promise<SlotLease>;
  get(id: string): Slot | undefined;
  list(): readonly SlotStatus[];
  /** The OAuth slot whose windows a caller is shown: the sticky key's, else the one that would be picked. */
  account(stickyKey?: string): Slot | undefined;
}
