import { expect } from 'chai';
import { join } from 'node:path';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { only } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';
import { copyMigrated } from '../../../state/store/stores.js';
import { clockAt } from '../../../clock-at.js';

describe('two gateways that share what they know, and one store', () => {
  const folders = new TempFolders();
  const gateways: GatewayUnderTest[] = [];
  let simulator: Simulator;
  let nowMs: number;

  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    simulator = await startSimulator({ clock: clockAt(() => nowMs) });
  });
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
    await simulator.close();
  });
  after(() => folders.remove());

  async function startBoth(slots: readonly object[]): Promise<[GatewayUnderTest, GatewayUnderTest]> {
    const hub = new MemoryHub({ now: () => nowMs });
    const file = join(await folders.make(), 'gateway.db');
    await copyMigrated(file);
    const store = `sqlite:${file}`;
    const pipeline = stages({ with: { 'slot-pick': { policy: 'round-robin' } } });
    const config = { slots, store, pipeline };
    const one = await startGateway(config, {}, () => nowMs, { live: hub.connect() });
    gateways.push(one);
    const two = await startGateway(config, {}, () => nowMs, { live: hub.connect() });
    gateways.push(two);
    return [one, two];
  }

  const team = (): readonly object[] =>
    ['a', 'b'].map((id) =>
      slotAt(simulator.url, { id, account: { kind: 'api-key', key: `upstream-key-${id}` } }),
    );

  async function slotOf(gateway: GatewayUnderTest, headers = {}): Promise<string | null> {
    const response = await gateway.post('/v1/messages', ask('Hello!'), headers);
    await response.text();
    return response.headers.get('x-gw-slot');
  }

  it('answer a session from one slot, whichever of them it comes to', async () => {
    const both = await startBoth(team());
    for (const session of ['x', 'y', 'z']) {
      const slots = new Set<string | null>();
      for (let call = 0; call < 6; call += 1)
        slots.add(await slotOf(both[call % 2]!, { 'x-session-id': session }));
      expect(slots.size).to.equal(1);
    }
  });

  it('hold a slot to its limit together', async () => {
    const upstream = await startHeldUpstream();
    const [one, two] = await startBoth([slotAt(upstream.url, { maxConcurrent: 1 })]);
    const first = one.post('/v1/messages', ask('Hello!'));
    const held = await upstream.next();
    const second = two.post('/v1/messages', ask('Hello!'));
    while (two.gateway.services.slots.list()[0]?.queued === 0)
      await new Promise((resolve) => void setImmediate(resolve));
    expect(two.gateway.services.slots.list()[0]).to.include({ inFlight: 1, queued: 1 });
    held.finish();
    expect(await (await first).text()).to.include('Hello.');
    (await upstream.next()).finish();
    expect(await second).to.have.property('status', 200);
    await (await second).text();
    await upstream.close();
  });

  it('leave a slot alone that is paused or drained in either, until it is resumed in either', async () => {
    const [one, two] = await startBoth(team());
    one.gateway.services.slots.pause('b');
    expect([await slotOf(two), await slotOf(two)]).to.deep.equal(['a', 'a']);
    two.gateway.services.slots.resume('b');
    two.gateway.services.slots.drain('a');
    expect([await slotOf(one), await slotOf(one)]).to.deep.equal(['b', 'b']);
    one.gateway.services.slots.resume('a');
    expect([await slotOf(two), await slotOf(two)]).to.have.members(['a', 'b']);
  });

  it('leave a slot alone that cools down for either, and move its sessions once for both', async () => {
    const [one, two] = await startBoth(team());
    const session = { 'x-session-id': 'x' };
    const bound = await slotOf(one, session);
    simulator.faults.push(only(bound === 'a' ? 'a' : 'b', '429 retry-after=7 times=1'));
    expect(await slotOf(two, session)).to.not.equal(bound);
    const slots = [];
    for (let call = 0; call < 4; call += 1) slots.push(await slotOf(one));
    expect(slots).to.not.include(bound);
    nowMs += 7000;
    expect(await slotOf(one, session)).to.not.equal(bound);
    expect(new Set([await slotOf(one), await slotOf(two), await slotOf(one)])).to.include(bound);
  });
});
