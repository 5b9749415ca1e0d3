import { modelRefusal, type PickTerms } from '../../../plugin/core.js';
import type {
  MessagesRequest,
  Models,
  SlotLease,
  SlotPicker,
  Caller,
  CatalogModel,
} from '../../../plugin/index.js';
import { poolClosed, noKnownCost } from '../refusal.js';
import { SessionOrigin } from '../sticky/session-origin.js';
import { wantedModel, type WantedModel, type SlotEntry } from '../pool/slot-entry.js';
import { Acquisition } from './acquisition.js';
import type { PoolContext } from './pool-context.js';
import { limitedContext, withRefused } from './slot-access.js';

/** Leases for the calls of one request: those of one model stay together. */
export class RequestPicker implements SlotPicker {
  readonly #context: PoolContext;
  readonly #terms: PickTerms;
  readonly #models: () => Models;
  /** Last call of each model. */
  readonly #calls = new Map<string, PendingCall>();
  readonly #origin: SessionOrigin;

  constructor(context: PoolContext, terms: PickTerms, models: () => Models) {
    this.#context = limitedContext(context, terms);
    this.#terms = terms;
    this.#models = models;
    this.#origin = new SessionOrigin(this.#context, terms);
  }

  get stickyKey(): string | undefined {
    return this.#terms.sticky?.key;
  }

  lease(request: MessagesRequest): Promise<SlotLease> {
    const { caller } = this.#terms;
    const refusal = this.#context.isClosed() ? poolClosed() : modelRefusal(caller, request, this.#models());
    if (refusal) return Promise.reject(refusal);
    const earlier = this.#calls.get(request.model);
    return earlier?.acquisition.isWaiting ? this.#after(earlier, request) : this.#acquire(request, earlier);
  }

  /** Waits for the slot of a concurrent call, so that they stay together; a refusal applies to both. */
  async #after(call: PendingCall, request: MessagesRequest): Promise<SlotLease> {
    await call.leased;
    return this.#acquire(request, call);
  }

  #acquire(request: MessagesRequest, before?: PendingCall): Promise<SlotLease> {
    const model = wantedModel(this.#models(), request.model);
    const call = { terms: this.#terms, request, model, origin: this.#origin };
    const acquisition = new Acquisition(this.#contextFor(model), call, before?.acquisition.earlier);
    const leased = acquisition.first();
    this.#calls.set(request.model, { acquisition, leased });
    return leased;
  }

  #contextFor(wanted: WantedModel): PoolContext {
    const { isBudgeted, caller } = this.#terms;
    if (!isBudgeted?.()) return this.#context;
    const model = this.#models().find(wanted.id) ?? { id: wanted.id };
    return pricedContext(this.#context, { caller, wanted, model });
  }
}

interface PendingCall {
  readonly acquisition: Acquisition;
  readonly leased: Promise<SlotLease>;
}

interface BudgetedCall {
  readonly caller: Caller;
  readonly wanted: WantedModel;
  readonly model: Pick<CatalogModel, 'id' | 'price'>;
}

/** View of the pool for a call that a budget counts: of the slots that serve its model, those that have all its prices. */
function pricedContext(context: PoolContext, { caller, wanted, model }: BudgetedCall): PoolContext {
  const gapsOf = (entry: SlotEntry) => (entry.serves(wanted) ? context.priceGaps(model, entry.config) : []);
  const isRefused = (entry: SlotEntry): boolean => gapsOf(entry).length > 0;
  return {
    ...context,
    entries: () => context.entries().filter((entry) => !isRefused(entry)),
    onChoice:
      context.onChoice &&
      withRefused(context, context.onChoice, (entry) => (isRefused(entry) ? 'no_price' : undefined)),
    notServed: (served) => {
      const unpriced = context.entries().filter(isRefused);
      if (unpriced.length === 0) return context.notServed(served);
      return noKnownCost(served, caller, [...new Set(unpriced.flatMap(gapsOf))]);
    },
  };
}
