import { expect } from 'chai';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../../../eventually.js';
import { ownRedis, redisUrl } from '../../../state/live/redis-server.js';
import { callerOf, mark, withMark, type Caller } from './canary-calls.js';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

function describeTwo(live: () => (at: number) => Readonly<Record<string, unknown>>): void {
  const folders = new TempFolders();
  let simulator: Simulator;
  let gateways: GatewayUnderTest[] = [];
  let files: string[] = [];
  let one: Caller;
  let two: Caller;

  beforeEach(async () => {
    simulator = await startSimulator();
    const connect = live();
    gateways = [];
    files = [];
    for (const at of [0, 1]) {
      const folder = await folders.make({ 'mark.js': mark });
      files.push(folder);
      const { config = {}, ...options } = connect(at);
      settings = config as object;
      await write(folder, { tag: 'old' });
      gateways.push(await startGateway(`${folder}/gateway.yaml`, {}, Date.now, options));
    }
    [one, two] = gateways.map(({ url }) => callerOf(url)) as [Caller, Caller];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await simulator.close();
    await folders.remove();
  });

  let settings: object = {};
  const write = (folder: string, options: object) =>
    writeIn(folder, 'gateway.yaml', withMark(options, { slots: [slotAt(simulator.url)], ...settings }));

  async function startBoth(options: object): Promise<void> {
    for (const folder of files) await write(folder, options);
    for (const caller of [one, two]) expect(await caller.change('?canary=50')).to.equal(200);
  }

  it('gives a session the same side at both, and counts it once', async () => {
    await startBoth({ tag: 'new' });
    const marks = await one.marks(40);
    expect(new Set(marks)).to.deep.equal(new Set(['old', 'new']));
    expect(await two.marks(40)).to.deep.equal(marks);
    for (const caller of [one, two])
      await eventually(async () => {
        const { candidate, control } = (await caller.canary())!;
        return candidate.requests + control.requests === 80;
      });
  });

  it('is given up at both by what they have seen together, and the next one is another', async () => {
    await startBoth({ tag: 'new', fails: true });
    for (let round = 0; round < 20 && (await two.canary())!.state === 'running'; round += 1)
      await Promise.all([one.marks(40, `one ${round}`), two.marks(40, `two ${round}`)]);
    for (const caller of [one, two])
      await eventually(async () => (await caller.canary())!.state === 'given_up');
    const recorded = async () => {
      const stores = gateways.map(({ gateway }) => gateway.services.store.audit);
      const pages = stores.map((audit) => audit.page({ action: 'canary.give_up' }, { limit: 10 }));
      return (await Promise.all(pages)).flatMap(({ entries }) => entries);
    };
    await eventually(async () => (await recorded()).length > 0);
    expect(new Set(await two.marks(20))).to.deep.equal(new Set(['old']));
    await startBoth({ tag: 'newest' });
    expect(await two.canary()).to.deep.include({ state: 'running' });
    const [entry, ...more] = await recorded();
    expect(more).to.deep.equal([]);
    expect(entry).to.deep.include({ actor: { kind: 'system', name: 'canary' }, outcome: 'done' });
    expect(entry!.after).to.include({ percent: 50 }).and.to.include.keys('candidate', 'control');
  });
}

describe('a canary at two gateways that share what they know', () => {
  describeTwo(() => {
    const hub = new MemoryHub({ now: Date.now });
    return () => ({ live: hub.connect() });
  });
});

describe('a canary at two gateways on one Redis', () => {
  if (redisUrl === undefined) return it('is tested where GW_TEST_REDIS_URL names a server');
  const server = redisUrl;
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));
  describeTwo(() => {
    const { where, remove } = ownRedis(server);
    ends.push(remove);
    return () => ({ config: { live: where } });
  });
  return undefined;
});
