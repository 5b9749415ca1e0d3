import { expect } from 'chai';
import { startCollector, type Collector } from '../../../features/opentelemetry/collector.js';
import { ask, startPair, type Pair } from '../../harness.js';
import { callsTo } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';
import { callingPipeline } from '../plugins/calling-stage.js';

const [internal, server, client] = [1, 2, 3];

describe('the trace of a request whose stage calls a model', () => {
  const folders = new TempFolders();
  let collector: Collector;
  let pair: Pair | undefined;
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await collector.close();
    await folders.remove();
  });

  it('has a span of the call, and below it those of its upstream calls, which are part of the trace', async () => {
    const pipeline = await callingPipeline(folders, `await host.call(ask('x'), { ctx, label: 'guard' });`);
    pair = await startPair({ pipeline, telemetry: { otlp: collector.url, propagate: true } });
    const response = await pair.post('/v1/messages', ask('Hi'), { 'x-request-id': 'mine' });
    await response.text();
    const [request] = await collector.spansOf(server, 1);
    const calls = await collector.spansOf(client, 2);
    const own = (await collector.spansOf(internal, 1)).find(({ name }) => name === 'call guard')!;
    expect(own).to.include({ traceId: request!.traceId, parentSpanId: request!.spanId, status: 0 });
    expect(own.attributes).to.deep.include({
      'gw2api.call.label': 'guard',
      'gw2api.stage': 'calling',
      'gw2api.request.id': 'mine',
      'gw2api.key.id': 'master',
      'gw2api.model': 'haiku-5',
      'gw2api.outcome': 'completed',
    });
    const upstream = calls.find(({ parentSpanId }) => parentSpanId === own.spanId)!;
    expect(upstream).to.include({ name: 'chat haiku-5', traceId: request!.traceId });
    const [sent] = callsTo(pair.simulator);
    expect(sent!.headers['traceparent']).to.include(`${request!.traceId}-${upstream.spanId}`);
  });
});
