import { expect } from 'chai';
import { PrometheusMetrics } from '#src/telemetry/metrics.js';

describe('metrics', () => {
  it('count everything there was before the first scrape', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('test_total', 'A count.', ['kind']);
    for (let count = 0; count < 25_000; count += 1) counter.add({ kind: 'a' });
    expect(await metrics.text()).to.include('test_total{kind="a"} 25000');
  });

  it('go on counting after it', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('test_total', 'A count.', []);
    counter.add({}, 2);
    await metrics.text();
    counter.add({}, 3);
    expect(await metrics.text()).to.include('test_total 5');
  });
});
