import { expect } from 'chai';
import { ask, startPair } from './harness.js';

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
