import { expect } from 'chai';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, stages, startGateway, startPair, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';

/** The lines of `GET /metrics` that begin like this. */
async function samples(under: GatewayUnderTest, prefix: string): Promise<readonly string[]> {
  await under.gateway.exchanges.idle();
  const text = await (await under.get('/metrics')).text();
  return text.split('\n').filter((line) => line.startsWith(prefix));
}

describe('the times of a model call in the metrics', () => {
  it('are those to the first token, for each further one, in the queue and as a whole', async () => {
    const usage = { input_tokens: 10, output_tokens: 1 };
    const upstream = await startHeldUpstream({ usage, finalUsage: { output_tokens: 7 } });
    let nowMs = Date.now();
    const slots = [slotAt(upstream.url, { maxConcurrent: 1 })];
    const under = await startGateway({ slots }, {}, () => nowMs);
    const first = await under.post('/v1/messages', ask('Hi', { stream: true }));
    const held = await upstream.next();
    const second = under.post('/v1/messages', ask('Hi', { stream: true }));
    while (under.gateway.services.slots.list()[0]!.queued === 0)
      await new Promise((resolve) => setImmediate(resolve));
    nowMs += 3000;
    held.finish();
    await first.text();
    const next = await upstream.next();
    const answer = await second;
    nowMs += 4000;
    next.finish();
    await answer.text();
    const labels = '{model="sonnet-5",slot="a",format="messages"}';
    const name = 'gw2api_time_to_first_token_seconds';
    expect(await samples(under, `${name}_sum`)).to.deep.equal([`${name}_sum${labels} 3`]); // 0 and 3, in the queue
    expect(await samples(under, `${name}_count`)).to.deep.equal([`${name}_count${labels} 2`]);
    const perToken = 'gw2api_time_per_output_token_seconds';
    const [sum = ''] = await samples(under, `${perToken}_sum`);
    expect(Number(sum.split(' ')[1])).to.be.closeTo(3 / 6 + 4 / 6, 1e-9);
    expect(await samples(under, 'gw2api_queue_wait_seconds_sum')).to.deep.equal([
      `gw2api_queue_wait_seconds_sum${labels} 3`,
    ]);
    const whole =
      'gw2api_request_seconds_sum{operation="generate",model="sonnet-5",slot="a",format="messages"}';
    expect(await samples(under, 'gw2api_request_seconds_sum')).to.deep.equal([`${whole} 10`]);
    expect(
      under.logged.filter(({ model, msg }) => model && msg === 'request').map(({ queueMs }) => queueMs),
    ).to.deep.equal([undefined, 3000]);
    await under.close();
    await upstream.close();
  });

  it('are not taken from an answer that its caller has left, but for the first token', async () => {
    const upstream = await startHeldUpstream();
    const under = await startGateway({ slots: [slotAt(upstream.url)] });
    const leaving = await under.post('/v1/messages', ask('Hi', { stream: true }));
    await upstream.next();
    await leaving.body!.cancel();
    expect(await samples(under, 'gw2api_time_to_first_token_seconds_count')).to.have.length(1);
    expect(await samples(under, 'gw2api_time_per_output_token_seconds_count')).to.deep.equal([]);
    await under.close();
    await upstream.close();
  });

  it('have `other` for models that callers have made up', async () => {
    const pair = await startPair();
    for (const model of ['made-up-1', 'made-up-2'])
      await (await pair.post('/v1/messages', ask('[[sim:400]]', { model }))).text();
    const counts = await samples(pair, 'gw2api_request_seconds_count');
    await pair.close();
    expect(counts).to.deep.equal([
      'gw2api_request_seconds_count{operation="generate",model="other",slot="a",format="messages"} 2',
    ]);
  });
});

describe('the counters of what went wrong', () => {
  it('have each failover by its reason, in another slot or the same one', async () => {
    const other = await startSimulator();
    const dead = slotAt('http://127.0.0.1:1', { id: 'dead' });
    const pipeline = stages({ with: { 'slot-pick': { policy: 'priority' } } });
    const pair = await startPair({ pipeline }, {}, (url) => [
      dead,
      slotAt(url),
      slotAt(other.url, { id: 'b' }),
    ]);
    pair.simulator.faults.push('529 on=generate');
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const lines = await samples(pair, 'gw2api_failovers_total');
    const line = pair.logged.find(({ msg }) => msg === 'request');
    await Promise.all([pair.close(), other.close()]);
    expect(lines).to.have.members([
      'gw2api_failovers_total{reason="unreachable",to="other_slot"} 1',
      'gw2api_failovers_total{reason="overloaded",to="other_slot"} 1',
    ]);
    const calls = line!['calls'] as readonly { slot: string; code?: string }[];
    expect(calls.map(({ slot, code }) => [slot, code])).to.deep.equal([
      ['dead', 'upstream_unreachable'],
      ['a', 'overloaded_error'],
      ['b', undefined],
    ]);
  });

  it('have requests that a limit of a key has refused, by the limit', async () => {
    const limits = { requestsPerMinute: 1, limitMaster: true };
    const pair = await startPair({ pipeline: stages({ with: { 'rate-limit': limits } }) });
    for (const text of ['One', 'Two', 'Three']) await (await pair.post('/v1/messages', ask(text))).text();
    const lines = await samples(pair, 'gw2api_rate_limited_total');
    await pair.close();
    expect(lines).to.deep.equal(['gw2api_rate_limited_total{limit="requests_per_minute"} 2']);
  });

  it('have what callers were shown of the tokens beside what was billed', async () => {
    const pair = await startPair({
      pipeline: stages({ with: { 'persona-inject': { text: 'Be kind. '.repeat(50) } } }),
    });
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const sum = async (name: string) =>
      (await samples(pair, name)).reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    const [billed, shown] = [await sum('gw2api_tokens_total'), await sum('gw2api_shown_tokens_total')];
    await pair.close();
    expect(shown).to.be.greaterThan(0);
    expect(billed - shown).to.be.greaterThan(50);
  });
});

describe('the gauges of a gateway', () => {
  it('have its versions, the capacity of its slots, and when their windows begin anew', async () => {
    const pair = await startPair({}, {}, (url) => [slotAt(url, { maxConcurrent: 7 })]);
    const lines = await samples(pair, 'gw2api_');
    await pair.close();
    expect(lines).to.include('gw2api_slot_capacity{slot="a"} 7');
    const info = lines.filter((line) => line.startsWith('gw2api_build_info'));
    expect(info).to.deep.equal([`gw2api_build_info{version="0.1.0",node="${process.version}"} 1`]);
  });

  it('say whether the last reload was taken, when, and how long it took', async () => {
    let nowMs = Date.UTC(2026, 2, 4);
    const under = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }] }, {}, () => nowMs);
    nowMs += 5000;
    await (await under.post('/admin/reload', {})).text();
    const lines = await samples(under, 'gw2api_config_');
    await under.close();
    expect(lines).to.include.members([
      'gw2api_config_reloads_total{outcome="taken"} 1',
      'gw2api_config_reloads_total{outcome="refused"} 0',
      'gw2api_config_last_reload_successful 1',
      `gw2api_config_last_reload_success_timestamp_seconds ${nowMs / 1000}`,
      'gw2api_config_reload_seconds_count 1',
    ]);
  });
});

describe('the percentiles of the usage in the panel API', () => {
  it('are those of the requests, by group, and null for groups that have none', async () => {
    const pair = await startPair();
    for (const text of ['One', 'Two', 'Three']) await (await pair.post('/v1/messages', ask(text))).text();
    await pair.gateway.exchanges.idle();
    const usage = async (query: string) =>
      (await (await pair.get(`/api/panel/usage?${query}`)).json()) as {
        data: { group: string; latency: Record<string, Record<string, number> | null> | null }[];
      };
    const { data } = await usage('by=model');
    const { data: byKey } = await usage('by=key');
    const { data: byMinute } = await usage('by=key&step=1m');
    const { data: without } = await usage('by=model&latency=false');
    await pair.close();
    expect(data.map(({ group }) => group)).to.deep.equal(['sonnet-5']);
    const { latency } = data[0]!;
    expect(Object.keys(latency!)).to.deep.equal(['first_token', 'per_output_token', 'queue', 'total']);
    expect(latency!['queue']).to.deep.equal({ p50: 0, p95: 0, p99: 0 });
    for (const measure of ['first_token', 'total']) {
      const { p50, p95, p99 } = latency![measure]!;
      expect([p50! <= p95!, p95! <= p99!, p99! > 0], measure).to.deep.equal([true, true, true]);
    }
    expect(byKey.map((bucket) => bucket.latency)).to.deep.equal([null]);
    expect(byMinute[0]!.latency).not.to.equal(null);
    expect(without).to.deep.equal([{ ...data[0], latency: null }]);
  });
});
