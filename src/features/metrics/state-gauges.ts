import * as prom from 'prom-client';
import type { Store } from '../../state/store/contract/store.js';
import type { PrometheusMetrics } from '../../gateway/telemetry/metrics.js';
import { responseTotal } from '../../gateway/telemetry/response-total.js';

interface StateReadings {
  /** False for a server that is down. */
  readonly isUp: () => { readonly store: boolean; readonly live: boolean };
  readonly ledger: { readonly waiting: number };
}

/** Gauges of the store, the live state and the ledger queue, read at each scrape. */
export function measureState(metrics: PrometheusMetrics, readings: StateReadings): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(name, help, [], () => [{ labels: {}, value: read() }]);
  gauge('gw2api_store_up', '1 while the store works, 0 while it is unavailable.', () =>
    Number(readings.isUp().store),
  );
  gauge('gw2api_live_up', '1 while the other instances can be reached, 0 while this one is on its own.', () =>
    Number(readings.isUp().live),
  );
  gauge(
    'gw2api_ledger_rows_waiting',
    'Rows of the ledger that the store does not have yet.',
    () => readings.ledger.waiting,
  );
}

/** Counter of the rows of the ledger that the store has refused. */
export function measureRefusedRows(metrics: PrometheusMetrics, rows: { readonly count: number }): void {
  metrics.register(
    (registry) =>
      new prom.Counter({
        name: 'gw2api_ledger_rows_refused_total',
        help: 'Rows of the ledger that the store has refused for their content; they are set aside beside the spool.',
        registers: [registry],
        collect() {
          this.reset();
          this.inc(rows.count);
        },
      }),
  );
}

/** Gauges of the stored Responses of all keys together; no values while the store is down. */
export function measureResponses(metrics: PrometheusMetrics, { responses }: Pick<Store, 'responses'>): void {
  const gauge = (name: string, help: string, field: 'count' | 'bytes') =>
    metrics.gauge(
      name,
      help,
      [],
      async () => {
        const total = await responseTotal(responses).catch(() => undefined); // other gauges are still read
        return total ? [{ labels: {}, value: total[field] }] : [];
      },
      { across: 'max' },
    );
  gauge('gw2api_stored_responses', 'Responses in the store.', 'count');
  gauge('gw2api_stored_response_bytes', 'Their total size, including their input.', 'bytes');
}
