import { expect } from 'chai';
import { fakeHost } from 'gw2api/testing';
import { PrometheusMetrics } from '#src/telemetry/metrics.js';

describe('metrics', () => {
  it('count everything there was before the first scrape', async () => {
    const metrics = new PrometheusMetrics(fakeHost().log);
    const counter = metrics.counter('test_total', 'A count.', ['kind']);
    for (let count = 0; count < 25_000; count += 1) counter.add({ kind: 'a' });
    expect(await metrics.text()).to.include('test_total{kind="a"} 25000');
  });

  it('go on counting after it', async () => {
    const metrics = new PrometheusMetrics(fakeHost().log);
    const counter = metrics.counter('test_total', 'A count.', []);
    counter.add({}, 2);
    await metrics.text();
    counter.add({}, 3);
    expect(await metrics.text()).to.include('test_total 5');
  });

  it('log what cannot be counted, before the first scrape and after it, and count the rest', async () => {
    const { log, logged } = fakeHost();
    const metrics = new PrometheusMetrics(log);
    const counter = metrics.counter('test_total', 'A count.', ['kind']);
    const addAll = () => {
      counter.add({ kind: 'a' }, Infinity);
      counter.add({ kind: 'a' }, -1);
      counter.add({ sort: 'a' });
      counter.add({ kind: 'a' });
    };
    addAll();
    await metrics.text();
    addAll();
    expect(await metrics.text()).to.include('test_total{kind="a"} 2');
    expect(logged.map(({ level }) => level)).to.deep.equal(Array.from({ length: 6 }, () => 'warn'));
  });
});
