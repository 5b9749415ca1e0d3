import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { MemoryHub } from '@gw2api/gateway/testing';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import {
  ask,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';

describe('the metrics of a gateway', () => {
  it('tell what its slots and requests are doing when they are read', async () => {
    const pair = await startPair();
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const before = await (await pair.get('/metrics')).text();
    pair.gateway.services.slots.pause('a');
    const after = await (await pair.get('/metrics')).text();
    await pair.close();
    for (const line of [
      'gw2api_slot_in_flight{slot="a"} 0',
      'gw2api_slot_queued{slot="a"} 0',
      'gw2api_slot_cooling_models{slot="a"} 0',
      'gw2api_slot_state{slot="a",state="ready"} 1',
      'gw2api_slot_state{slot="a",state="paused"} 0',
      'gw2api_upstream_attempts_total{slot="a"} 1',
      'gw2api_requests_in_flight 1',
    ])
      expect(before.split('\n')).to.include(line);
    expect(after.split('\n')).to.include('gw2api_slot_state{slot="a",state="ready"} 0');
    expect(after.split('\n')).to.include('gw2api_slot_state{slot="a",state="paused"} 1');
  });
});

describe('the numbers of a gateway', () => {
  it('count a failed call for the slot that failed, and not for the one that answered', async () => {
    const other = await startSimulator();
    const failing = { id: 'b', upstream: 'messages', baseUrl: 'http://127.0.0.1:1' };
    const slots = [{ ...failing, account: { kind: 'api-key', key: 'k' } }, slotAt(other.url)];
    const under = await startGateway({
      slots,
      pipeline: stages({ with: { 'slot-pick': { policy: 'priority' } } }),
    });
    await (await under.post('/v1/messages', ask('Hi'))).text();
    const lines = (await (await under.get('/metrics')).text()).split('\n');
    await Promise.all([under.close(), other.close()]);
    expect(lines).to.include.members([
      'gw2api_upstream_attempts_total{slot="a"} 1',
      'gw2api_upstream_attempts_total{slot="b"} 1',
      'gw2api_upstream_failures_total{slot="b",code="upstream_unreachable"} 1',
    ]);
    expect(lines.filter((line) => line.startsWith('gw2api_upstream_failures_total{'))).to.have.length(1);
  });

  it('time requests that have called a model, and nothing else', async () => {
    const pair = await startPair();
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    await (await pair.post('/v1/messages', ask('Hi', { messages: 'none' }))).text();
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-api-key': 'wrong' })).text();
    for (const path of ['/health', '/v1/models', '/v1/usage', '/api/panel/status', '/metrics'])
      await (await pair.get(path)).text();
    const text = await (await pair.get('/metrics')).text();
    await pair.close();
    const counts = text.split('\n').filter((line) => line.startsWith('gw2api_request_seconds_count'));
    expect(counts).to.deep.equal([
      'gw2api_request_seconds_count{operation="generate",model="sonnet-5",slot="a",format="messages"} 1',
    ]);
  });

  it("tell the calls of each instance, so that their sum is everybody's", async () => {
    const upstream = await startHeldUpstream();
    const hub = new MemoryHub();
    const config = { slots: [slotAt(upstream.url)] };
    const [one, two] = await Promise.all(
      [1, 2].map(() => startGateway(config, {}, Date.now, { live: hub.connect() })),
    );
    const answer = one!.post('/v1/messages', ask('Hi'));
    const held = await upstream.next();
    const inFlight = async (under: GatewayUnderTest) =>
      /^gw2api_slot_in_flight\{slot="a"\} (\d+)$/m.exec(await (await under.get('/metrics')).text())?.[1];
    expect([await inFlight(one!), await inFlight(two!)]).to.deep.equal(['1', '0']);
    held.finish();
    await (await answer).text();
    expect([await inFlight(one!), await inFlight(two!)]).to.deep.equal(['0', '0']);
    await Promise.all([one!.close(), two!.close()]);
    await upstream.close();
  });
});

describe('what a gateway keeps in memory', () => {
  let pair: Pair;
  beforeEach(
    async () =>
      void (pair = await startPair({
        pipeline: stages({ with: { 'persona-inject': { text: 'Be kind.' } } }),
      })),
  );
  afterEach(() => pair.close());

  it('is measured, each with the most that it may have', async () => {
    const fresh = await fillsOf(pair);
    await (await pair.post('/v1/messages', ask('Hi'), { 'x-session-id': 'one' })).text();
    await (await pair.get('/v1/models', { 'x-api-key': 'sk-gw-nobody' })).text();
    const used = await fillsOf(pair);
    for (const [name, { entries, capacity }] of used) {
      expect(entries, name).to.be.at.most(capacity);
      expect(capacity, name).to.equal(fresh.get(name)!.capacity);
    }
    const grown = [...used].filter(([name, { entries }]) => entries > fresh.get(name)!.entries);
    expect(grown.map(([name]) => name)).to.include.members([
      'memory_sticky_sessions',
      'sticky_sessions',
      'unknown_keys',
      'usage_mask_weights',
    ]);
  });

  it('has no more caches of a stage after a reload than before', async () => {
    const before = await fillsOf(pair);
    expect(before.get('usage_mask_weights')).to.deep.equal({ entries: 0, capacity: 100 });
    await pair.post('/admin/reload', {});
    const audited = { ...before.get('memory_audit_entries')!, entries: 1 };
    const after = Object.fromEntries(await fillsOf(pair));
    expect(after).to.deep.equal({ ...Object.fromEntries(before), memory_audit_entries: audited });
  });

  it('is told of in config/monitoring.md', async () => {
    const guide = await readFile('config/monitoring.md', 'utf8');
    for (const name of (await fillsOf(pair)).keys())
      expect(guide).to.include(name.startsWith('memory_') ? '`memory_…`' : `\`${name}\``);
  });
});

/** By the name of the cache. */
async function fillsOf(pair: Pair): Promise<ReadonlyMap<string, { entries: number; capacity: number }>> {
  const text = await (await pair.get('/metrics')).text();
  const read = (field: string) => {
    const lines = text.matchAll(new RegExp(`^gw2api_cache_${field}\\{cache="(\\w+)"\\} (\\d+)$`, 'gm'));
    return new Map(Array.from(lines, ([, name, value]) => [name!, Number(value)] as const));
  };
  const capacities = read('capacity');
  return new Map(
    Array.from(read('entries'), ([name, entries]) => [name, { entries, capacity: capacities.get(name)! }]),
  );
}
