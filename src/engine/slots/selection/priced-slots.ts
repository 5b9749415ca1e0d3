import type { Caller, CatalogModel } from '../../../plugin/index.js';
import { noKnownCost } from '../refusal.js';
import type { SlotEntry, WantedModel } from '../slot-entry.js';
import type { PoolContext } from './pool-context.js';
import { withRefused } from './slot-access.js';

interface BudgetedCall {
  readonly caller: Caller;
  readonly wanted: WantedModel;
  readonly model: Pick<CatalogModel, 'id' | 'price'>;
}

/** View of the pool for a call that a budget counts: of the slots that serve its model, those that have all its prices. */
export function pricedContext(context: PoolContext, { caller, wanted, model }: BudgetedCall): PoolContext {
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
