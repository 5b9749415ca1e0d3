import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../../../eventually.js';
import {
  startCollector,
  type CollectedSpan,
  type Collector,
} from '../../../features/opentelemetry/collector.js';
import { ask, defaultStages, masterKey, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';

const [internal, server, client] = [1, 2, 3];
const parentTrace = '0af7651916cd43dd8448eb211c80319c';
const parentSpan = 'b7ad6b7169203331';

describe('traces for a collector', () => {
  let collector: Collector;
  let simulator: Simulator;
  let under: GatewayUnderTest;

  beforeEach(async () => {
    collector = await startCollector();
    simulator = await startSimulator();
  });
  afterEach(async () => {
    await under?.close();
    await simulator.close();
    await collector.close();
  });

  async function start(telemetry: object = {}, config: object = {}): Promise<void> {
    under = await startGateway({
      slots: [slotAt(simulator.url)],
      telemetry: { otlp: collector.url, ...telemetry },
      ...config,
    });
  }

  async function post(body: object, headers: Readonly<Record<string, string>> = {}, path = '/v1/messages') {
    const response = await under.post(path, body, headers);
    return { status: response.status, text: await response.text() };
  }

  /** The last model call; stages may count tokens beside it. */
  const sent = () => simulator.requests.findLast(({ path }) => path === '/v1/messages')!;
  const only = async (kind: number): Promise<CollectedSpan> => (await collector.spansOf(kind, 1))[0]!;

  it('have a span for the request, each stage and each upstream call, as the latest conventions name it', async () => {
    await start({ headers: { authorization: 'Bearer secret' }, serviceName: 'gateway-of-ours' });
    const sent = { stream: true, temperature: 0.5, stop_sequences: ['END'] };
    await post(ask('Hi', sent), { 'x-session-id': 'mine', 'x-request-id': 'my-request' });
    const request = await only(server);
    const call = await only(client);
    const stages = await collector.spansOf(internal, defaultStages.length);

    expect(request.name).to.equal('POST /v1/messages');
    expect(request.parentSpanId).to.equal(undefined);
    expect(request.status).to.equal(0);
    expect(request.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/v1/messages',
      'http.response.status_code': 200,
      'url.path': '/v1/messages',
      'client.address': '127.0.0.1',
      'gw2api.request.id': 'my-request',
      'gw2api.operation': 'generate',
      'gw2api.format': 'messages',
      'gw2api.key.id': 'master',
      'gw2api.model': 'sonnet-5',
      'gw2api.slot': 'a',
      'gw2api.attempts': 1,
      'gw2api.outcome': 'completed',
    });

    expect(call).to.include({ name: 'chat sonnet-5', traceId: request.traceId, status: 0 });
    const made = stages.find(({ name }) => name === 'upstream-call')!;
    expect(call.parentSpanId).to.equal(made.spanId);
    const { hostname, port } = new URL(simulator.url);
    const {
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.cache_read.input_tokens': read,
      'gen_ai.usage.cache_write.input_tokens': written,
      'gen_ai.response.time_to_first_chunk': firstChunk,
      'gen_ai.conversation.id': conversation,
      'gw2api.upstream.request_id': upstreamId,
      ...rest
    } = call.attributes;
    expect(rest).to.deep.equal({
      'gw2api.slot': 'a',
      'gw2api.upstream': 'messages',
      'server.address': hostname,
      'server.port': Number(port),
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'sonnet-5',
      'gen_ai.request.max_tokens': 1000,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'sonnet-5',
    });
    for (const count of [input, output, read, written]) expect(count).to.satisfy(Number.isInteger);
    expect(Number(input)).to.be.at.least(Number(read) + Number(written));
    expect(Number(output)).to.be.above(0);
    expect(firstChunk, 'seconds').to.be.within(0, 20);
    expect(upstreamId).to.be.a('string');
    expect([undefined, 'string']).to.include(typeof conversation === 'string' ? 'string' : conversation);

    expect(stages.map(({ name }) => name)).to.have.members([...defaultStages]);
    for (const stage of stages) {
      expect(stage).to.include({ parentSpanId: request.spanId, traceId: request.traceId, status: 0 });
      expect(stage.attributes['gw2api.stage']).to.equal(stage.name);
      expect(stage.attributes['gw2api.stage.own_time'], 'seconds').to.be.within(0, 20);
    }
    for (const { beganNs, endedNs } of [call, ...stages]) {
      expect(beganNs >= request.beganNs && endedNs <= request.endedNs && beganNs <= endedNs).to.equal(true);
    }
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    expect(nowNs - request.beganNs < 60_000_000_000n && request.beganNs <= nowNs + 1_000_000_000n).to.equal(
      true,
    );

    expect(collector.paths[0]).to.equal('/v1/traces');
    expect(collector.headers[0]!.authorization).to.equal('Bearer secret');
    expect(request.resource).to.include({ 'service.name': 'gateway-of-ours' });
    expect(request.resource['service.version']).to.match(/^\d+\.\d+\.\d+/);
    expect(request.resource).to.include({
      'telemetry.sdk.name': 'gw2api',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': request.resource['service.version'],
    });
    expect(request.resource['service.instance.id']).to.equal(under.gateway.services.live.instance);
  });

  it('have the names of the conventions 1.36 where they are asked for', async () => {
    await start({ semconv: '1.36' });
    await post(ask('Hi'));
    const { attributes } = await only(client);
    expect(attributes['gen_ai.system']).to.equal('anthropic');
    expect(attributes).to.include.keys(
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_read.input_tokens',
    );
    const newer = [
      'provider.name',
      'request.stream',
      'response.time_to_first_chunk',
      'usage.cache_write.input_tokens',
    ];
    expect(attributes).not.to.have.any.keys(newer.map((name) => `gen_ai.${name}`));
  });

  it('continue the trace of the caller, with its decision to sample', async () => {
    await start({ sample: '0%' });
    await post(ask('Hi'), { traceparent: `00-${parentTrace}-${'c'.repeat(16)}-00` });
    await post(ask('Hi'));
    await post(ask('Hi'), { traceparent: `00-${parentTrace}-${parentSpan}-01` });
    const request = await only(server);
    expect(request).to.include({ traceId: parentTrace, parentSpanId: parentSpan });
    await under.close();
    expect(collector.spans.filter(({ kind }) => kind === server)).to.have.length(1);
  });

  it('have the state of the trace of the caller, each span of it', async () => {
    await start();
    const tracestate = `rojo=00f067aa0ba902b7,ot="th:${'8'.repeat(490)}"`.slice(0, 512);
    await post(ask('Hi'), { traceparent: `00-${parentTrace}-${parentSpan}-01`, tracestate });
    await collector.spansOf(server, 1);
    await under.close();
    expect(collector.spans.map(({ traceState }) => traceState)).to.deep.equal(
      collector.spans.map(() => tracestate),
    );
    await start();
    await post(ask('Hi'), { tracestate });
    const [, request] = await collector.spansOf(server, 2);
    expect(request!.traceState).to.equal(undefined);
  });

  it('continue that of a later version, which may say more', async () => {
    await start();
    await post(ask('Hi'), { traceparent: `01-${parentTrace}-${parentSpan}-01-more` });
    expect(await only(server)).to.include({ traceId: parentTrace, parentSpanId: parentSpan });
  });

  it('begin anew where the header of the caller is wrong', async () => {
    await start();
    const wrong = [
      `00-${'0'.repeat(32)}-${parentSpan}-01`,
      `ff-${parentTrace}-${parentSpan}-01`,
      `00-${parentTrace}-${parentSpan}-01-more`,
      'x',
      '',
    ];
    for (const traceparent of wrong) await post(ask('Hi'), { traceparent });
    const requests = await collector.spansOf(server, wrong.length);
    for (const { traceId, parentSpanId } of requests) {
      expect(traceId)
        .to.match(/^[\da-f]{32}$/)
        .and.not.equal(parentTrace);
      expect(parentSpanId).to.equal(undefined);
    }
    expect(new Set(requests.map(({ traceId }) => traceId)).size).to.equal(wrong.length);
  });

  it('are handed on to the upstream only where that is asked for, as the parent of what it does', async () => {
    await start();
    await post(ask('Hi'), { traceparent: `00-${parentTrace}-${parentSpan}-01` });
    expect(sent().headers).not.to.have.any.keys('traceparent', 'tracestate');
    await under.close();
    await start({ propagate: true });
    await post(ask('Hi'), { traceparent: `00-${parentTrace}-${parentSpan}-01`, tracestate: 'a=1,b=2' });
    const calls = await collector.spansOf(client, 2);
    const { traceparent, tracestate } = sent().headers;
    expect(traceparent).to.equal(`00-${parentTrace}-${calls.at(-1)!.spanId}-01`);
    expect(tracestate).to.equal('a=1,b=2');
  });

  it('are handed on unsampled where they are not exported', async () => {
    await start({ propagate: true, sample: '0%' });
    await post(ask('Hi'));
    expect(sent().headers['traceparent']).to.match(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
    await under.close();
    expect(collector.spans).to.deep.equal([]);
  });

  it('have a span with its error for each attempt, and the status of the request', async () => {
    const slots = [
      slotAt('http://127.0.0.1:9', { id: 'dead', weight: 100 }),
      slotAt(simulator.url, { id: 'good', weight: 1 }),
    ];
    await start({}, { slots, pipeline: withPriority() });
    await post(ask('Hi'));
    const calls = await collector.spansOf(client, 2);
    const [failed, answered] = calls.toSorted((a, b) => (a.beganNs < b.beganNs ? -1 : 1));
    expect(failed!.attributes).to.include({ 'gw2api.slot': 'dead', 'error.type': 'upstream_unreachable' });
    expect(failed!.status).to.equal(2);
    expect(failed!.attributes).not.to.have.any.keys('gen_ai.usage.input_tokens', 'gen_ai.response.model');
    expect(answered!.attributes).to.include({ 'gw2api.slot': 'good' });
    expect(answered!.status).to.equal(0);
    expect((await only(server)).attributes).to.include({
      'gw2api.attempts': 2,
      'http.response.status_code': 200,
    });
  });

  it('say of a call that the caller did not wait for when it ended, and nothing of an answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await start({}, { slots: [slotAt(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)] });
    const caller = new AbortController();
    const left = fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      body: JSON.stringify(ask('Hi')),
      signal: caller.signal,
    }).catch(() => undefined);
    await once(silent, 'request');
    caller.abort();
    await left;
    const request = await only(server);
    const call = await only(client);
    expect(request.attributes).to.include({
      'gw2api.outcome': 'abandoned',
      'http.response.status_code': 499,
    });
    expect(call.endedNs).to.equal(request.endedNs);
    const answer = ['gen_ai.response.model', 'gen_ai.response.time_to_first_chunk'];
    expect(call.attributes).not.to.have.any.keys(answer);
    silent.closeAllConnections();
    silent.close();
  });

  it('do not take a count of tokens for a chat', async () => {
    await start();
    await post(ask('Hi'), {}, '/v1/messages/count_tokens');
    const { name, attributes } = await only(client);
    expect(name).to.equal('count_tokens sonnet-5');
    expect(attributes['gen_ai.operation.name']).to.equal('count_tokens');
    expect(attributes).not.to.have.any.keys('gen_ai.response.time_to_first_chunk');
  });

  it('have texts of a bounded length, in whole characters', async () => {
    await start();
    await post(ask('Hi', { stop_sequences: [`${'x'.repeat(499)}\u{1F600}`, 'y'.repeat(10_000)] }));
    const { attributes } = await only(client);
    expect(attributes['gen_ai.request.stop_sequences']).to.deep.equal([
      `${'x'.repeat(499)}\uFFFD`,
      'y'.repeat(500),
    ]);
  });

  it('have the time of the clock, also where that was set after the start', async () => {
    const hourMs = 3_600_000;
    let aheadMs = 0;
    under = await startGateway(
      { slots: [slotAt(simulator.url)], telemetry: { otlp: collector.url } },
      {},
      () => Date.now() + aheadMs,
    );
    aheadMs = hourMs;
    await post(ask('Hi'));
    const { beganNs } = await only(server);
    expect(Number(beganNs / 1_000_000n) - Date.now()).to.be.within(hourMs - 60_000, hourMs);
  });

  it('tell a refusal of the caller from a failure of the gateway', async () => {
    await start({}, { slots: [slotAt('http://127.0.0.1:9')] });
    await post({ model: 'sonnet-5' });
    await post(ask('Hi'), { 'x-api-key': 'sk-gw-wrong' });
    await post(ask('Hi'));
    const requests = await collector.spansOf(server, 3);
    expect(
      requests.map(({ status, attributes }) => [
        status,
        attributes['error.type'],
        attributes['http.response.status_code'],
      ]),
    ).to.have.deep.members([
      [0, 'invalid_request', 400],
      [0, 'invalid_api_key', 401],
      [2, 'upstream_unreachable', 502],
    ]);
  });

  it('never have a text, a key or a header of the caller', async () => {
    await start();
    const words = {
      system: 'the secret system',
      tools: [{ name: 'secret_tool', input_schema: { type: 'object' } }],
    };
    await post(ask('a secret question', words), { 'user-agent': 'secret-agent', 'x-own': 'secret-header' });
    await only(server);
    await under.close();
    const all = JSON.stringify(collector.spans, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(all).not.to.match(/secret|simulator, not a model|test-master-key|upstream-key/);
  });

  it('are sent again where the collector is not ready for them', async () => {
    collector.status = 503;
    await start();
    await post(ask('Hi'));
    await eventually(() => collector.paths.length > 0);
    expect(collector.spans).to.have.length(0);
    collector.status = 200;
    await only(server);
    await only(client);
    await under.close();
    expect(under.logged.filter(({ msg }) => String(msg).startsWith('Spans could not'))).to.deep.equal([]);
  });

  it('go out in protobuf and gzip where that is asked for, and say the same', async () => {
    await start({ protocol: 'http/protobuf', compression: 'gzip' });
    const tracestate = 'a=1,b=2';
    const stops = { stop_sequences: ['END', 'é'], temperature: 0.5 };
    await post(ask('Hi', stops), { traceparent: `00-${parentTrace}-${parentSpan}-01`, tracestate });
    const request = await only(server);
    const call = await only(client);
    const stages = await collector.spansOf(internal, defaultStages.length);
    expect(collector.headers[0]).to.include({
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
    expect(request).to.include({ name: 'POST /v1/messages', traceId: parentTrace, parentSpanId: parentSpan });
    expect(request).to.include({ traceState: tracestate, status: 0 });
    expect(request.attributes).to.include({
      'http.response.status_code': 200,
      'gw2api.outcome': 'completed',
    });
    expect(request.resource['service.name']).to.equal('gw2api');
    expect(call.attributes).to.deep.include({
      'gen_ai.request.stop_sequences': ['END', 'é'],
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.stream': false,
    });
    expect(stages.map(({ parentSpanId }) => parentSpanId)).to.deep.equal(stages.map(() => request.spanId));
    for (const { beganNs, endedNs } of [call, ...stages]) {
      expect(beganNs >= request.beganNs && endedNs <= request.endedNs && beganNs <= endedNs).to.equal(true);
    }
    expect(Date.now() - Number(request.beganNs / 1_000_000n)).to.be.within(-1000, 60_000);
  });

  /** Starts a gateway with variables of the environment. */
  async function startIn(env: Readonly<Record<string, string>>, telemetry: object): Promise<void> {
    under = await startGateway({ slots: [slotAt(simulator.url)], telemetry }, env);
  }

  it('take from the environment what the config leaves open', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20general,x-general=1,x-both=general',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-both=traces,x-config=env',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '20000',
    };
    await startIn(env, { enabled: true, headers: { 'X-Config': 'config' } });
    await post(ask('Hi'));
    await only(server);
    expect(under.gateway.runtime.config.telemetry.exports?.timeoutMs).to.equal(20_000);
    expect(collector.paths[0]).to.equal('/base/v1/traces');
    expect(collector.headers[0]).to.include({
      authorization: 'Bearer general',
      'x-general': '1',
      'x-both': 'traces',
      'x-config': 'config',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
  });

  it('go where the config says, whatever the environment does', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    };
    await startIn(env, { otlp: collector.url, protocol: 'http/json', compression: 'none' });
    await post(ask('Hi'));
    await only(server);
    expect(collector.headers[0]!['content-type']).to.equal('application/json');
    expect(collector.headers[0]).not.to.have.any.keys('content-encoding');
  });

  it('go to the very address that the environment has for traces', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/spans`,
    };
    await startIn(env, { enabled: true });
    await post(ask('Hi'));
    await only(server);
    expect(collector.paths[0]).to.equal('/spans');
  });

  it('are not turned on by the environment alone, nor where the config turns them off', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    for (const telemetry of [{}, { headers: { a: 'b' } }, { enabled: false, otlp: collector.url }]) {
      await startIn(env, telemetry);
      await post(ask('Hi'));
      await under.close();
    }
    await startIn({}, { enabled: true });
    await post(ask('Hi'));
    await under.close();
    expect(collector.paths).to.deep.equal([]);
  });

  it('pass over values of the environment that they cannot use, with a warning for each', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: 'soon',
      OTEL_EXPORTER_OTLP_HEADERS: 'a b=c',
      OTEL_EXPORTER_OTLP_COMPRESSION: '',
    };
    await startIn(env, { otlp: collector.url });
    await post(ask('Hi'));
    await only(server);
    expect(collector.headers[0]!['content-type']).to.equal('application/json');
    const warned = under.logged.flatMap(({ variable }) => variable ?? []);
    expect(warned).to.have.members(Object.keys(env).slice(0, 3));
  });

  it('refuse a config that sends them to the environment where that has no address', async () => {
    const started = startIn({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, { enabled: true });
    const error = await started.then(() => undefined, String);
    expect(error).to.include('telemetry.enabled');
    expect(error).to.include('needs an address such as http://127.0.0.1:4318 in OTEL_EXPORTER_OTLP_ENDPOINT');
  });

  it('cost no request anything where the collector fails or hangs, and are told of once', async () => {
    collector.status = 500;
    await start();
    for (let at = 0; at < 3; at += 1) expect((await post(ask('Hi'))).status).to.equal(200);
    await under.close();
    const warnings = under.logged.filter(({ msg }) => String(msg).startsWith('Spans could not be sent'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]!['spans']).to.be.above(0);
  });
});

/** The default pipeline with slots in the order of their weights. */
function withPriority(): readonly object[] {
  return defaultStages.map((use) => (use === 'slot-pick' ? { use, with: { policy: 'priority' } } : { use }));
}
