import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { measure } from './gauges.js';
import { RequestMetrics } from './request-metrics.js';
import type { Counter, Metrics } from '../../plugin/core.js';

/** Adds the gauges of a gateway to its metrics, and counts its requests. */
export function openMetrics(gateway: Gateway): Opened<void> {
  const { metrics } = gateway.services;
  const modelId = (name: string) => gateway.runtime.models.find(name)?.id;
  const requests = new RequestMetrics({ metrics, modelId });
  const costs = new CostCounter(metrics);
  measure(gateway);
  return {
    api: undefined,
    watch: {
      settled({ record, money }) {
        requests.add(record);
        for (const call of money.paid) costs.add(call);
      },
      callSettled({ call, record, money }) {
        requests.addCall(record, { stage: call.stage, label: call.label });
        for (const paid of money.paid) costs.add(paid);
      },
    },
  };
}

/** Counter of the cost of upstream calls, as far as their prices are known. */
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
