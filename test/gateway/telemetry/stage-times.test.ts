import { expect } from 'chai';
import { PrometheusMetrics } from '#src/gateway/telemetry/metrics.js';
import { StageMetrics, stageMetricNames } from '#src/gateway/telemetry/stage-metrics.js';
import { stageTimes } from '#src/gateway/telemetry/group-metrics.js';

/** Measurements of a process whose stage has taken these times, in milliseconds. */
async function measured(times: readonly number[], { faults = 0, skips = 0 } = {}) {
  const metrics = new PrometheusMetrics();
  const meter = new StageMetrics(metrics).of('mine');
  for (const ms of times) meter.time(ms);
  for (let count = 0; count < faults; count += 1) meter.fault();
  for (let count = 0; count < skips; count += 1) meter.skip();
  return metrics.measurementsOf(Object.values(stageMetricNames));
}

const times = (length: number, ms: number) => Array.from({ length }, () => ms);

describe('the times of a stage', () => {
  it('are quantiles as the buckets of its histogram tell them', async () => {
    const processes = [await measured([...times(50, 0.05), ...times(40, 5), ...times(10, 500)])];
    const { count, p50Ms, p95Ms } = stageTimes(processes).get('mine')!;
    expect(count).to.equal(100);
    expect(p50Ms).to.be.closeTo(0.1, 1e-9);
    expect(p95Ms).to.be.closeTo(550, 1e-9); // half of the ten between 100 ms and 1 s
  });

  it('are those of all processes together, with faults and skips', async () => {
    const processes = [
      await measured(times(30, 0.05), { faults: 2 }),
      await measured(times(70, 5), { faults: 1, skips: 4 }),
      [],
    ];
    const sum = stageTimes(structuredClone(processes)).get('mine')!;
    expect(sum).to.deep.include({ count: 100, faults: 3, skips: 4 });
    expect(sum.p50Ms).to.be.within(1, 10);
  });

  it('are the last bound for times above it, and none without requests', async () => {
    const late = stageTimes([await measured([100_000])]).get('mine')!;
    expect([late.p50Ms, late.p95Ms]).to.deep.equal([60_000, 60_000]);
    const unused = stageTimes([await measured([], { faults: 1 })]).get('mine')!;
    expect(unused).to.deep.equal({ count: 0, p50Ms: null, p95Ms: null, faults: 1, skips: 0 });
  });
});
