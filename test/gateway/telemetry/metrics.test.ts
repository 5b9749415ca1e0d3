import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import { PrometheusMetrics } from '#src/gateway/telemetry/metrics.js';
import { eventually } from '../../eventually.js';

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

  it('tell what they cannot tell apart any more together', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('test_total', 'A count.', ['model', 'slot']);
    for (let at = 0; at < 10_005; at += 1) counter.add({ model: `made up ${at}`, slot: 'a' });
    counter.add({ model: 'made up 0', slot: 'a' });
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('test_total'));
    expect(lines).to.have.length(10_001);
    expect(lines).to.include('test_total{model="made up 0",slot="a"} 2');
    expect(lines).to.include('test_total{model="other",slot="other"} 5');
  });

  it('say how full a cache is at each scrape, those of one name together, until it is over', async () => {
    const metrics = new PrometheusMetrics();
    let entries = 1;
    const stop = metrics.cache('names', () => ({ entries, capacity: 10 }));
    expect(await metrics.text()).to.include('gw2api_cache_entries{cache="names"} 1');
    entries = 2;
    const stopOther = metrics.cache('names', () => ({ entries: 5, capacity: 10 }));
    const both = await metrics.text();
    expect(both).to.include('gw2api_cache_entries{cache="names"} 7');
    expect(both).to.include('gw2api_cache_capacity{cache="names"} 20');
    stopOther();
    expect(await metrics.text()).to.include('gw2api_cache_capacity{cache="names"} 10');
    stop();
    expect(await metrics.text()).to.not.include('cache="names"');
  });

  it('tell each of two scrapers how late the event loop was', async () => {
    let nowMs = 0;
    const metrics = new PrometheusMetrics(() => nowMs);
    const lag = async () =>
      Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await metrics.text())?.[1]);
    await lag(); // begins to measure
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    await eventually(() => delay.count > 0);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150); // blocks the event loop
    await eventually(() => delay.max > 100_000_000);
    delay.disable();
    nowMs += 15_000;
    const first = await lag();
    expect(first).to.be.above(0.1);
    nowMs += 3000;
    expect(await lag()).to.equal(first);
    nowMs += 12_000;
    expect(await lag()).to.be.below(first);
  });

  it('refuse at once what would break every scrape', async () => {
    const metrics = new PrometheusMetrics();
    const counter = metrics.counter('test_total', 'A count.', ['kind']);
    const histogram = metrics.histogram('test_seconds', 'Times.', [], [1]);
    expect(() => metrics.counter('no name', '', [])).to.throw('"no name" is not a valid metric name');
    expect(() => metrics.counter('other_total', '', ['a-b'])).to.throw('"a-b" is not a valid label');
    const said = 'a metric "test_total" already exists, a counter with kind';
    expect(() => metrics.counter('test_total', '', [])).to.throw(said);
    expect(() => metrics.histogram('test_total', '', ['kind'], [])).to.throw(said);
    expect(() => counter.add({ sort: 'a' })).to.throw('The metric "test_total" has no label "sort".');
    expect(() => counter.add({}, -1)).to.throw('The metric "test_total" cannot take -1.');
    expect(() => histogram.observe({}, NaN)).to.throw('The metric "test_seconds" cannot take NaN.');
    histogram.observe({}, -1);
    expect(await metrics.text()).to.include('test_seconds_count 1');
  });
});
