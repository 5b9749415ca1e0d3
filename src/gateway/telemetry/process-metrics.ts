import * as prom from 'prom-client';

/** Adds the process metrics of prom-client: memory, event loop, CPU. `monotonicMs`: monotonic time. */
export function addProcessMetrics(registry: prom.Registry, monotonicMs: () => number): void {
  prom.collectDefaultMetrics({ register: registry });
  // Gauges with the name of a counter: sums of those by type, which stay.
  for (const name of misnamed) registry.removeSingleMetric(name);
  holdLag(registry, monotonicMs);
}

const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Gauge of the event loop's delays, which starts over each time it is collected. */
interface LagGauge {
  collect: () => void;
}

/** Time for which a measurement of delays is kept, so that one of two scrapers does not reset it for the other. */
const heldMs = 10_000;

function holdLag(registry: prom.Registry, monotonicMs: () => number): void {
  // Its declaration leaves `collect` out.
  const gauge = registry.getSingleMetric('nodejs_eventloop_lag_seconds') as LagGauge | undefined;
  if (!gauge) return; // a runtime without such a monitor
  const { collect } = gauge;
  let collectedMs = -Infinity;
  gauge.collect = () => {
    const nowMs = monotonicMs();
    if (nowMs - collectedMs < heldMs) return;
    collectedMs = nowMs;
    collect();
  };
}
