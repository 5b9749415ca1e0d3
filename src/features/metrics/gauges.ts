import type { Exchanges } from '../../engine/http/exchanges.js';
import type { WrongKeys } from '../../engine/http/wrong-keys.js';
import { measureLog } from '../../gateway/telemetry/log-metrics.js';
import { measureSlots } from './slot-gauges.js';
import { measureRefusedRows, measureResponses, measureState } from './state-gauges.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import { version } from '../../kit/version.js';
import type { Listeners } from '../../gateway/listeners.js';
import { isUp, type Services } from '../../gateway/services.js';

/** Parts of a gateway that its gauges read. */
interface Measured {
  readonly services: Services;
  readonly exchanges: Exchanges;
  readonly wrongKeys: WrongKeys;
  readonly listeners: Pick<Listeners, 'openConnections' | 'openWebSockets'>;
}

/** Adds the gauges of a gateway to its metrics. */
export function measure(gateway: Measured): void {
  const { services, exchanges } = gateway;
  const { metrics, slots, store, ledger, caches } = services;
  measureBuild(metrics);
  measureLog(metrics);
  measureSlots(metrics, { list: () => slots.list(), held: () => slots.held() });
  measureState(metrics, { ledger, isUp: () => isUp(services) });
  measureRefusedRows(metrics, services.refusedRows);
  measureResponses(metrics, store);
  metrics.cache('waiting_wrong_keys', () => gateway.wrongKeys.fill);
  for (const [name, fill] of Object.entries(caches)) metrics.cache(name, fill);
  metrics.gauge('gw2api_requests_in_flight', 'Requests whose response is open.', [], () => [
    { labels: {}, value: exchanges.count },
  ]);
  metrics.gauge('gw2api_connections_open', 'Open connections of callers.', [], () => [
    { labels: {}, value: gateway.listeners.openConnections },
  ]);
  metrics.gauge('gw2api_websockets_open', 'Open WebSockets of callers.', [], () => [
    { labels: {}, value: gateway.listeners.openWebSockets },
  ]);
}

/** A metric with the running version in its labels: 1, by convention. */
function measureBuild(metrics: PrometheusMetrics): void {
  const labels = { version, node: process.version };
  metrics.gauge(
    'gw2api_build_info',
    '1; the labels are the versions of the gateway and of Node.',
    ['version', 'node'],
    () => [{ labels, value: 1 }],
    { across: 'max' },
  );
}
