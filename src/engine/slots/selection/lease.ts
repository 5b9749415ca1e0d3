import type { CallSignal } from '../../../plugin/raw/index.js';
import type { FailoverTerms, SessionMove } from '../../../plugin/core.js';
import type { GatewayError, SlotLease } from '../../../plugin/index.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import type { UpstreamSlot } from '../upstream/upstream-slot.js';

/** Owner of a lease, which receives its results. */
export interface LeaseOwner {
  answered(lease: Lease, headers: Readonly<Record<string, string>>, firstTokenMs?: number): void;
  /** Receives that the account has refused the thinking of the request's earlier turns. */
  disowned(): void;
  /** Applies a failure to the slot's state; true if the request should be sent again. */
  failed(lease: Lease, error: GatewayError, terms: FailoverTerms): boolean;
  /** Acquires another lease for the request that has just failed, perhaps after a wait. */
  elsewhere(): Promise<SlotLease | undefined>;
  released(entry: SlotEntry): void;
}

interface LeaseOptions {
  readonly signal: CallSignal;
  readonly moved?: SessionMove;
  /** Releases the lease's check of a cooling slot. */
  readonly giveBackCheck?: () => void;
}

/** Lease of one permit in a slot. Released at the latest when the request's signal aborts. */
export class Lease implements SlotLease {
  readonly entry: SlotEntry;
  /** Upstream of this lease; a reload may give the entry another one. */
  readonly slot: UpstreamSlot;
  readonly upstreamModel: string;
  readonly moved: SessionMove | undefined;
  readonly #owner: LeaseOwner;
  readonly #signal: CallSignal;
  /** Mark of the slot's cooldowns at the start of the call. */
  #began: number;
  /** Releases the check of a cooling slot; undefined if the call is not a check, or has had a result. */
  #giveBackCheck: (() => void) | undefined;
  #isReleased = false;

  constructor(
    entry: SlotEntry,
    model: WantedModel,
    owner: LeaseOwner,
    { signal, moved, giveBackCheck }: LeaseOptions,
  ) {
    this.entry = entry;
    this.slot = entry.slot;
    this.upstreamModel = entry.upstreamModel(model);
    this.moved = moved;
    this.#owner = owner;
    this.#signal = signal;
    this.#giveBackCheck = giveBackCheck;
    this.#began = this.slot.health.cooldowns.mark;
    this.slot.hold();
    signal.addEventListener('abort', this.#onAbort);
  }

  get began(): number {
    return this.#began;
  }

  /** Reports a reply; the next call of this lease begins now. */
  answered(headers: Readonly<Record<string, string>>, firstTokenMs?: number): void {
    this.concludeCheck();
    this.#owner.answered(this, headers, firstTokenMs);
    this.#began = this.slot.health.cooldowns.mark;
  }

  disown(): void {
    this.#owner.disowned();
  }

  /**
   * Reports a failure and acquires another lease; undefined also after a release, since later failures are
   * not the slot's.
   */
  async another(error: GatewayError, terms: FailoverTerms = {}): Promise<SlotLease | undefined> {
    return this.#fail(error, terms) ? this.#owner.elsewhere() : undefined;
  }

  failed(error: GatewayError): void {
    this.#fail(error, {});
  }

  /** Keeps the check of a cooling slot, which has had its result. */
  concludeCheck(): void {
    this.#giveBackCheck = undefined;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#giveBackCheck?.();
    this.entry.permits.release();
    this.slot.release();
    this.#owner.released(this.entry);
  }

  #fail(error: GatewayError, terms: FailoverTerms): boolean {
    const isRetried = !this.#isReleased && this.#owner.failed(this, error, terms);
    this.release();
    return isRetried;
  }

  readonly #onAbort = (): void => this.release();
}
