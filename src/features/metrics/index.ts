import type { Extension } from '../../gateway/gateway.js';

/** Metrics of a gateway and of its requests. */
export const metrics: Extension<void> = {
  name: 'metrics',
  starts: () => true,
  open: async (gateway) => (await import('./open-metrics.js')).openMetrics(gateway),
};
