import { expect } from 'chai';
import { PrometheusMetrics } from '#src/gateway/telemetry/metrics.js';
import { RequestMetrics } from '#src/features/metrics/request-metrics.js';
import type { RequestRecord } from '#src/gateway/settle/request-record.js';

const record: RequestRecord = {
  id: 'r',
  method: 'POST',
  path: '/v1/messages',
  operation: 'generate',
  format: 'messages',
  status: 400,
  outcome: 'completed',
  ms: 1,
  client: '192.0.2.1',
  firstEventMs: undefined,
  firstTokenMs: undefined,
  outputMs: undefined,
  queueMs: 0,
  key: 'k',
  model: 'sonnet-5',
  answeredBy: undefined,
  slot: 'a',
  attempts: 1,
  calls: [],
  brokenBy: undefined,
  delivery: 'whole',
  billed: {},
  masked: {},
  code: undefined,
  waitingFor: undefined,
  upstreamRequestId: undefined,
};

describe('the metrics of requests', () => {
  it('count a failure by its code', async () => {
    const metrics = new PrometheusMetrics();
    const requests = new RequestMetrics({ metrics, modelId: () => undefined });
    for (const code of ['overloaded_error', 'other', 'other'])
      requests.add({ ...record, calls: [{ slot: 'a', ms: 1, code }] });
    const text = await metrics.text();
    expect(text.match(/^gw2api_upstream_failures_total.*$/gm)).to.deep.equal([
      'gw2api_upstream_failures_total{slot="a",code="overloaded_error"} 1',
      'gw2api_upstream_failures_total{slot="a",code="other"} 2',
    ]);
  });
});
