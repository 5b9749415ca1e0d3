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

  it('are the same ones for the same name, as after a reload', async () => {
    const metrics = new PrometheusMetrics();
    metrics.counter('test_total', 'A count.', ['kind']).add({ kind: 'a' });
    metrics.counter('test_total', 'A count.', ['kind']).add({ kind: 'a' });
    expect(await metrics.text()).to.include('test_total{kind="a"} 2');
  });

  it('refuse at once what would break every scrape', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('test_total', 'A count.', ['kind']);
    const histogram = metrics.histogram('test_seconds', 'Times.', [], [1]);
    expect(() => metrics.counter('no name', '', [])).to.throw('"no name" is no name for a metric');
    expect(() => metrics.counter('other_total', '', ['a-b'])).to.throw('"a-b" is no label');
    const said = 'there is a metric "test_total" already, a counter with kind';
    expect(() => metrics.counter('test_total', '', [])).to.throw(said);
    expect(() => metrics.histogram('test_total', '', ['kind'], [])).to.throw(said);
    expect(() => counter.add({ sort: 'a' })).to.throw('The metric "test_total" has no label "sort".');
    expect(() => counter.add({}, -1)).to.throw('The metric "test_total" cannot take -1.');
    expect(() => histogram.observe({}, NaN)).to.throw('The metric "test_seconds" cannot take NaN.');
    histogram.observe({}, -1);
    expect(await metrics.text()).to.include('test_seconds_count 1');
  });
});
