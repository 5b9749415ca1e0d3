import { expect } from 'chai';
import { measureRefusedRows } from '#src/features/metrics/state-gauges.js';
import { PrometheusMetrics } from '#src/gateway/telemetry/metrics.js';

describe('the metrics of the ledger', () => {
  it('count the rows that the store has refused', async () => {
    const metrics = new PrometheusMetrics();
    measureRefusedRows(metrics, { count: 1 });
    expect(await metrics.text()).to.match(/^gw2api_ledger_rows_refused_total 1$/m);
  });
});
