import type { Counter, Metrics } from '../../plugin/core.js';

/** Counter of what upstream calls have cost, as far as their prices are known. */
export class CostCounter {
  readonly #usd: Counter;

  constructor(metrics: Metrics) {
    this.#usd = metrics.counter(
      'gw2api_cost_usd_total',
      'Cost of the tokens that upstreams have billed, in USD, of calls whose price is known.',
      ['slot', 'model'],
    );
  }

  /** Adds a call; `cost` in pico-USD. */
  add({ slot, model, cost }: { readonly slot: string; readonly model: string; readonly cost: number }): void {
    if (cost > 0) this.#usd.add({ slot, model }, cost / 1e12);
  }
}
