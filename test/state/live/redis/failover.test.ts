import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { expect } from 'chai';
import type { RedisLive } from '#src/state/live/redis/live.js';
import { probeRedis } from '#src/state/live/redis/probe.js';
import { toLive } from '#src/config/sections/live.js';
import { eventually } from '../../../eventually.js';
import { livedMs } from '../../../lived-ms.js';
import { quiet } from '../../store/stores.js';
import { ask, ClusterGroup, SentinelGroup, watchOver } from '../redis-groups.js';
import { RedisProcess, redisProgram } from '../redis-process.js';
import { openRedis } from '../redis-server.js';

for (const [what, describeThem] of [
  ['instances whose Redis is watched over by sentinels', describeSentinels],
  ['instances at a cluster', describeCluster],
] as const)
  describe(what, () => {
    if (redisProgram === undefined) it('are tested where GW_TEST_REDIS_SERVER names the program');
    else describeThem();
  });

type Live = Parameters<typeof openRedis>[0];

/** Opens instances, and closes them after each test. */
function instances() {
  const lives: RedisLive[] = [];
  afterEach(() => Promise.all(lives.splice(0).map((live) => live.close())));
  return async (live: Live) => {
    const opened = await openRedis(live, { log: quiet });
    lives.push(opened);
    return opened;
  };
}

function describeSentinels(): void {
  const open = instances();
  let group: SentinelGroup;
  before(async () => void (group = await SentinelGroup.start()));
  after(() => group.end());

  it('have a master by the second sentinel where the first is silent', async () => {
    let asked = 0;
    const silent = createServer(() => (asked += 1)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const tookMs = await livedMs(async () => {
      expect((await open(group.live(portOf(silent)))).isDown).to.equal(false);
    });
    expect(asked).to.equal(1);
    expect(tookMs).to.be.within(200, 1000); // 300 ms for the silent one
    silent.close();
  });

  it('do not go on with the answer of a sentinel that knows no living master', async () => {
    const stale = await RedisProcess.startSentinel([...watchOver(1, 9), 'requirepass sentinel-secret']);
    const one = await open(group.live(stale.port));
    await eventually(() => !one.isDown);
    await stale.end();
  });

  it('are looked at by doctor, which names the sentinels that do not answer', async () => {
    const { server, silent } = await probeRedis(addressOf(group.live(1)));
    expect(server).to.equal(`127.0.0.1:${group.master.port}`);
    expect(silent).to.deep.equal(['127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1']);
  });

  for (const [what, change, why] of [
    ['name', { name: 'nobody' }, 'it watches no master named "nobody"'],
    [
      'password',
      { password: 'wrong-secret' },
      'WRONGPASS invalid username-password pair or user is disabled.',
    ],
  ] as const)
    it(`tell a wrong ${what}, without a password`, async () => {
      const { url, sentinel } = group.live();
      const refused = await probeRedis(addressOf({ url, sentinel: { ...sentinel, ...change } })).catch(
        String,
      );
      expect(refused)
        .to.include(`no server was found: ${sentinel.nodes[0]}: ${why}`)
        .and.not.include('secret');
    });

  it('work alone while another master is elected under traffic, and come back with all they have', async () => {
    await survives(await open(group.live()), await open(group.live()), () => group.master.end());
  }).timeout(60_000);
}

function describeCluster(): void {
  const prefix = 'team.a';
  const open = instances();
  let group: ClusterGroup;
  before(async () => void (group = await ClusterGroup.start(prefix)));
  after(() => group.end());

  it('have the node with their keys by one that has none of them', async () => {
    const one = await open(group.live(prefix));
    expect(one.isDown).to.equal(false);
    one.shared.set('key', 1);
    await one.shared.flush();
    expect(await ask(group.owner, (redis) => redis.hkeys(`{${prefix}}:shared`))).to.include('key');
  });

  it('are looked at by doctor', async () => {
    const { server, silent } = await probeRedis(addressOf(group.live(prefix)));
    expect(server).to.equal(`127.0.0.1:${group.owner.port}`);
    expect(silent).to.deep.equal([]);
  });

  it('follow their keys to another master, by its redirection', async () => {
    const isMaster = async () => (await ask(group.replica, (redis) => redis.role()))[0] === 'master';
    await survives(await open(group.live(prefix)), await open(group.live(prefix)), async () => {
      await ask(group.replica, (redis) => redis.cluster('FAILOVER'));
      await eventually(isMaster);
    });
  }).timeout(60_000);

  it('work alone while the cluster elects another master under traffic, and come back with all they have', async () => {
    await survives(await open(group.live(prefix)), await open(group.live(prefix)), () => group.replica.end());
  }).timeout(60_000);
}

/** Fails over while both instances are used; all that they do goes on, and they share it afterwards. */
async function survives(one: RedisLive, two: RedisLive, failOver: () => Promise<void>): Promise<void> {
  expect([one.isDown, two.isDown]).to.deep.equal([false, false]);
  const over = new AbortController();
  let rounds = 0;
  const lost = Promise.all([one, two].map((live) => eventually(() => live.isDown, 20_000)));
  const traffic = (async () => {
    for (; !over.signal.aborted; rounds += 1) {
      const window = { limit: Infinity, windowMs: 60_000 };
      expect(await one.meters.take('meter', 1, window)).to.include({ isAllowed: true });
      expect(await one.permits.take('slot', 1)).to.equal(true);
      one.permits.release('slot');
      one.shared.set('round', rounds);
      expect(await one.withLock('lock', async () => rounds)).to.equal(rounds);
      await new Promise(setImmediate);
    }
  })();
  await failOver();
  await lost;
  two.shared.set('two', 'alone');
  await eventually(() => !one.isDown && !two.isDown, 30_000);
  over.abort();
  await traffic;
  await eventually(() => one.shared.get('two') === 'alone' && two.shared.get('round') === rounds - 1);
  const heard = new Promise((resolve) => two.messages.receive('topic', resolve));
  one.messages.send('topic', 'hello');
  expect(await heard).to.equal('hello');
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on TCP
}

function addressOf(live: Live) {
  const address = toLive(live);
  if (address.kind === 'memory') throw new Error('that is no address');
  return address;
}
