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

  it('show the series of what has happened alone, each with its sum', async () => {
    const metrics = new PrometheusMetrics();
    const requests = new RequestMetrics({ metrics, modelId: (name) => name });
    const answered = { ...record, status: 200, ms: 10, firstTokenMs: 5, calls: [{ slot: 'b', ms: 1 }] };
    requests.add(record);
    for (const input_tokens of [1, 2]) requests.add({ ...answered, billed: { input_tokens } });
    requests.add({ ...answered, slot: 'b', billed: { output_tokens: 3 }, masked: { output_tokens: 1 } });
    const text = await metrics.text();
    const counted = /^gw2api_(?:requests|tokens|shown_tokens|upstream_\w+)_total.*$|^gw2api_\w+_count.*$/gm;
    expect(text.match(counted)).to.deep.equal([
      'gw2api_time_to_first_token_seconds_count{model="sonnet-5",slot="a",format="messages"} 2',
      'gw2api_time_to_first_token_seconds_count{model="sonnet-5",slot="b",format="messages"} 1',
      'gw2api_queue_wait_seconds_count{model="sonnet-5",slot="a",format="messages"} 2',
      'gw2api_queue_wait_seconds_count{model="sonnet-5",slot="b",format="messages"} 1',
      'gw2api_request_seconds_count{operation="generate",model="sonnet-5",slot="a",format="messages"} 2',
      'gw2api_request_seconds_count{operation="generate",model="sonnet-5",slot="b",format="messages"} 1',
      'gw2api_requests_total{operation="generate",format="messages",slot="a",status="400",outcome="completed"} 1',
      'gw2api_requests_total{operation="generate",format="messages",slot="a",status="200",outcome="completed"} 2',
      'gw2api_requests_total{operation="generate",format="messages",slot="b",status="200",outcome="completed"} 1',
      'gw2api_tokens_total{model="sonnet-5",slot="a",kind="input"} 3',
      'gw2api_tokens_total{model="sonnet-5",slot="b",kind="output"} 3',
      'gw2api_shown_tokens_total{model="sonnet-5",slot="a",kind="input"} 3',
      'gw2api_shown_tokens_total{model="sonnet-5",slot="b",kind="output"} 2',
      'gw2api_upstream_attempts_total{slot="b"} 3',
    ]);
  });
});
