import type { CallSignal } from '../../../kit/call-signal.js';
import type { GatewayError } from '../error.js';
import type { Caller } from '../caller.js';
import type { MessagesRequest } from '../messages.js';
import type { SessionMove, Slot, SlotStatus } from './slot.js';
import type { Trace } from '../trace.js';

/** Terms for assigning slots to the calls of one request. */
export interface PickTerms {
  /** Sticky session, already scoped to the caller's key. */
  readonly sticky?: { readonly key: string; readonly ttlMs: number };
  readonly policy: PickPolicy;
  /** Slot ids or globs that the calls may use; absent: all. */
  readonly slots?: readonly string[];
  /** Caller, whose key may be limited to models and slots. Waiting callers take turns by their key. */
  readonly caller: Caller;
  /** True: only slots that have a price for every sort of token of the model, since a budget counts the cost. */
  readonly isBudgeted?: () => boolean;
  /** Queue timeout: max wait for a permit while every schedulable slot is full. */
  readonly queueTimeoutMs: number;
  readonly signal: CallSignal;
  /** Trace of the request, to which the time in the queue is added; absent: it is not recorded. */
  readonly trace?: Pick<Trace, 'queued'>;
}

/** Options of `lease`. */
export interface LeaseRequest extends PickTerms {
  readonly request: MessagesRequest;
}

/** Leases slots for the calls of one request. */
export interface SlotPicker {
  /** Sticky key of its session; absent: it has none. */
  readonly stickyKey?: string | undefined;
  /**
   * Takes a permit in a slot that serves the request's model, as `Slots.lease` does. Further calls keep the slot of the
   * earlier ones of that model, and try last the slots that have failed them.
   */
  lease(request: MessagesRequest): Promise<SlotLease>;
}

/** A slot as a policy sees it: schedulable, serving the model, with room. */
export interface Candidate {
  readonly id: string;
  readonly weight: number;
  readonly inFlight: number;
  /** Position in the config file, from 0. */
  readonly order: number;
  /** Recent time to first token of the model, milliseconds; undefined if none is known. */
  readonly firstTokenMs?: number | undefined;
}

/** Call for which a slot is picked. */
export interface PickedCall {
  /** Request of the call, read-only. */
  readonly request: MessagesRequest;
  readonly caller: Caller;
  /** Catalog id of the request's model, or its name if the catalog has none. */
  readonly model: string;
}

/**
 * Picks one of at least one candidates, or none, which refuses the call. Called for every call that no session
 * binds to a slot, so it may keep state (round-robin).
 */
export type PickPolicy = (candidates: readonly Candidate[], call: PickedCall) => Candidate | undefined;

/** Terms of a retry. */
export interface FailoverTerms {
  /**
   * Longest wait for the same slot, if it has named a retry time and the session is bound to it, or no other slot can
   * serve the request. Default: none.
   */
  readonly waitIfWithinMs?: number;
}

/** Lease of a permit in a slot, held for one upstream call after another until it is released. */
export interface SlotLease {
  readonly slot: Slot;
  /** Name of the leased model at the slot's upstream; absent: that of the catalog. */
  readonly upstreamModel?: string;
  /** Moves of the session that concern the thinking in the call's request; absent: none that concerns this slot. */
  readonly moved?: SessionMove | undefined;
  /**
   * Reports success: resets the slot's backoff, reads its windows and binds the sticky key. `firstTokenMs`: time to the
   * first content, which weights the slots.
   */
  answered(headers: Readonly<Record<string, string>>, firstTokenMs?: number): void;
  /**
   * Reports that the account has refused the thinking of the request's earlier turns, and answered without: later calls
   * of the session omit it, too.
   */
  disown?(): void;
  /**
   * Reports a failed call, which may change the slot's state, releases its permit, and takes one in an untried slot (in
   * the first one again, if all were tried); after a 5xx limited to this call, once in the same slot. Undefined if no
   * slot can help.
   */
  another(error: GatewayError, terms?: FailoverTerms): Promise<SlotLease | undefined>;
  /** Reports a failed call, as `another` does, and releases the permit: the request will not be retried. */
  failed(error: GatewayError): void;
  /** Releases the permit; further calls do nothing. */
  release(): void;
}

/** Slot pool as plugins see it. */
export interface Slots {
  /**
   * Takes a permit in a slot that serves the model. Throws `forbidden` if the caller may not use the model or
   * any slot that serves it, `model_not_found` if no slot lists it, `no_slot_available` (with `retry-after` if a
   * time is known) if none is schedulable, all stay full or the policy declines, and 429 if the only slots have
   * an exhausted window.
   */
  lease(request: LeaseRequest): Promise<SlotLease>;
  /** Picker for the calls of one request. */
  picker(terms: PickTerms): SlotPicker;
  get(id: string): Slot | undefined;
  list(): readonly SlotStatus[];
  /**
   * OAuth slot whose windows are shown to a caller: that of the sticky key, else the one that would be
   * picked, of those that the caller may use.
   */
  account(stickyKey?: string, caller?: Caller): Slot | undefined;
}
