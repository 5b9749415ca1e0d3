import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from './harness.js';

describe('the metrics of a gateway', () => {
  it('tell what its slots and requests are doing when they are read', async () => {
    const pair = await startPair();
    await (await pair.post('/v1/messages', ask('Hi'))).text();
    const before = await (await pair.get('/metrics')).text();
    pair.gateway.slots.pause('a');
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
    expect(await fillsOf(pair)).to.deep.equal(before);
  });

  it('is told of in config/README.md', async () => {
    const readme = await readFile('config/README.md', 'utf8');
    for (const name of (await fillsOf(pair)).keys())
      expect(readme).to.include(name.startsWith('memory_') ? '`memory_…`' : `\`${name}\``);
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
