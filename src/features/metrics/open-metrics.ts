import type { Opened } from '../../gateway/extension.js';
import type { Gateway } from '../../gateway/gateway.js';
import { CostCounter } from './cost-counter.js';
import { measure } from './gauges.js';
import { RequestMetrics } from './request-metrics.js';

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
    },
  };
}
