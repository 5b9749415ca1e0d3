import { expect } from 'chai';
import { PrometheusMetrics } from '#src/gateway/telemetry/metrics.js';
import { StageMetrics } from '#src/gateway/telemetry/stage-metrics.js';

describe('the metrics of stages', () => {
  const samples = async (metrics: PrometheusMetrics, name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(name));

  it('are a histogram of each stage, one for stages of the same name', async () => {
    const metrics = new PrometheusMetrics();
    const stages = new StageMetrics(metrics);
    stages.of('auth').time(0.05);
    stages.of('auth').time(500);
    stages.of('auth').time(100_000);
    expect(await samples(metrics, 'gw2api_stage_seconds')).to.deep.equal([
      'gw2api_stage_seconds_bucket{le="0.0001",stage="auth"} 1',
      'gw2api_stage_seconds_bucket{le="0.001",stage="auth"} 1',
      'gw2api_stage_seconds_bucket{le="0.01",stage="auth"} 1',
      'gw2api_stage_seconds_bucket{le="0.1",stage="auth"} 1',
      'gw2api_stage_seconds_bucket{le="1",stage="auth"} 2',
      'gw2api_stage_seconds_bucket{le="10",stage="auth"} 2',
      'gw2api_stage_seconds_bucket{le="60",stage="auth"} 2',
      'gw2api_stage_seconds_bucket{le="+Inf",stage="auth"} 3',
      'gw2api_stage_seconds_sum{stage="auth"} 100.50005',
      'gw2api_stage_seconds_count{stage="auth"} 3',
    ]);
  });

  it('add up over processes', async () => {
    const workers = [new PrometheusMetrics(), new PrometheusMetrics()];
    for (const metrics of workers) new StageMetrics(metrics).of('auth').time(1000);
    const measured = await Promise.all(workers.map((metrics, at) => metrics.measurements(String(at))));
    const text = await new PrometheusMetrics().textOf(measured);
    expect(text).to.include('gw2api_stage_seconds_count{stage="auth"} 2');
    expect(text).to.include('gw2api_stage_seconds_sum{stage="auth"} 2');
    expect(text).to.include('gw2api_stage_seconds_bucket{le="1",stage="auth"} 2');
  });

  it('count faults and skips, and put stages beyond the limit together', async () => {
    const metrics = new PrometheusMetrics();
    const stages = new StageMetrics(metrics);
    for (let at = 0; at < 1002; at += 1) stages.of(`s${at}`).fault();
    stages.of('s5').skip();
    expect(await samples(metrics, 'gw2api_stage_faults_total{stage="other"}')).to.deep.equal([
      'gw2api_stage_faults_total{stage="other"} 2',
    ]);
    const skips = await samples(metrics, 'gw2api_stage_skips_total{');
    expect(skips.filter((line) => !line.endsWith(' 0'))).to.deep.equal([
      'gw2api_stage_skips_total{stage="s5"} 1',
    ]);
  });
});
