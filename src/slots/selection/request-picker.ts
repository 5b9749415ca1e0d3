import type { MessagesRequest, Models, PickTerms, SlotLease, SlotPicker } from '../../plugin/internal.js';
import { poolClosed } from '../refusal.js';
import { wantedModel } from '../slot-entry.js';
import { Acquisition } from './acquisition.js';
import type { PoolContext } from './pool-context.js';

/** Leases for the calls of one request: those of one model stay together. */
export class RequestPicker implements SlotPicker {
  readonly #context: PoolContext;
  readonly #terms: PickTerms;
  readonly #models: () => Models;
  /** Last call of each model. */
  readonly #calls = new Map<string, PendingCall>();

  constructor(context: PoolContext, terms: PickTerms, models: () => Models) {
    this.#context = context;
    this.#terms = terms;
    this.#models = models;
  }

  lease({ model }: Pick<MessagesRequest, 'model'>): Promise<SlotLease> {
    if (this.#context.isClosed()) return Promise.reject(poolClosed());
    const earlier = this.#calls.get(model);
    return earlier?.acquisition.isWaiting ? this.#after(earlier, model) : this.#acquire(model, earlier);
  }

  /** Waits for the slot of a call made at the same time, so that they stay together; its refusal is that of both. */
  async #after(call: PendingCall, model: string): Promise<SlotLease> {
    await call.leased;
    return this.#acquire(model, call);
  }

  #acquire(model: string, before?: PendingCall): Promise<SlotLease> {
    const wanted = wantedModel(this.#models(), model);
    const acquisition = new Acquisition(this.#context, this.#terms, wanted, before?.acquisition.earlier);
    const leased = acquisition.first();
    this.#calls.set(model, { acquisition, leased });
    return leased;
  }
}

interface PendingCall {
  readonly acquisition: Acquisition;
  readonly leased: Promise<SlotLease>;
}
