import type { CallSignal, GatewayError, SlotLease } from '../../plugin/index.js';
import type { SlotEntry } from '../slot-entry.js';
import type { UpstreamSlot } from '../upstream-slot.js';

/** What a lease reports to. */
export interface LeaseOwner {
  answered(lease: Lease, headers: Readonly<Record<string, string>>): void;
  /** Settles what the failure means for the slot; true where the request should be sent once more. */
  failed(lease: Lease, error: GatewayError): boolean;
  /** A place for the request that has just failed. */
  elsewhere(): Promise<SlotLease | undefined>;
  again(lease: Lease): Promise<SlotLease>;
  released(entry: SlotEntry): void;
}

/** One place in a slot, which has been taken for it. It is given back at the latest when the request's signal aborts. */
export class Lease implements SlotLease {
  readonly entry: SlotEntry;
  /** A reload may give the entry another one; this lease stays with its own. */
  readonly slot: UpstreamSlot;
  readonly #lessor: LeaseOwner;
  readonly #signal: CallSignal;
  /** The slot's cool-downs up to this one were known when the call began. */
  #began: number;
  #isReleased = false;

  constructor(entry: SlotEntry, lessor: LeaseOwner, signal: CallSignal) {
    this.entry = entry;
    this.slot = entry.slot;
    this.#lessor = lessor;
    this.#signal = signal;
    this.#began = this.slot.standing.coolDowns.mark;
    this.slot.hold();
    signal.addEventListener('abort', this.#onAbort);
  }

  get began(): number {
    return this.#began;
  }

  /** The next call of this lease begins now. */
  answered(headers: Readonly<Record<string, string>>): void {
    this.#lessor.answered(this, headers);
    this.#began = this.slot.standing.coolDowns.mark;
  }

  /** Undefined also where the place has been given back: what comes then is no failure of the slot. */
  async another(error: GatewayError): Promise<SlotLease | undefined> {
    return this.#fail(error) ? this.#lessor.elsewhere() : undefined;
  }

  failed(error: GatewayError): void {
    this.#fail(error);
  }

  again(): Promise<SlotLease> {
    return this.#lessor.again(this);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.entry.places.release();
    this.slot.letGo();
    this.#lessor.released(this.entry);
  }

  #fail(error: GatewayError): boolean {
    const goesOn = !this.#isReleased && this.#lessor.failed(this, error);
    this.release();
    return goesOn;
  }

  readonly #onAbort = (): void => this.release();
}
