import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { toRedisAddress } from '#src/state/live/redis/address.js';
import type { RedisLive } from '#src/state/live/redis/live.js';
import { probeRedis } from '#src/state/live/redis/probe.js';
import { eventually } from '../../../eventually.js';
import { quiet } from '../../store/stores.js';
import { RedisProcess, redisProgram } from '../redis-process.js';
import { openRedis } from '../redis-server.js';

describe('a user of Redis', () => {
  if (redisProgram === undefined) it('is tested where GW_TEST_REDIS_SERVER names the program');
  else describeUsers();
});

function describeUsers(): void {
  const lives: RedisLive[] = [];
  let server: RedisProcess;
  let redis: Redis;
  before(async () => {
    server = await RedisProcess.start();
    redis = new Redis({ port: server.port, host: '127.0.0.1' });
  });
  after(async () => {
    redis.disconnect();
    await server.end();
  });
  afterEach(async () => {
    await Promise.all(lives.splice(0).map((live) => live.close()));
  });

  /** Makes a user with the rules of the operator's guide and these after them; returns its address. */
  const user = async (name: string, ...more: readonly string[]) => {
    const guide = await readFile('config/running.md', 'utf8');
    const [, rules = ''] = /^ACL SETUSER gw2api (.+)$/m.exec(guide) ?? [];
    await redis.acl('SETUSER', name, ...rules.split(' '), ...more);
    return `redis://${name}:PASSWORD@127.0.0.1:${server.port}/2`;
  };
  const refused = async (address: string) =>
    probeRedis(toRedisAddress(address)).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  it('may do all that a gateway does with the rules of the guide', async () => {
    const address = await user('all');
    const open = async () => openRedis(address, { log: quiet });
    const [one, two] = [await open(), await open()];
    lives.push(one, two);
    one.shared.set('key', 1, 20);
    two.shared.set('last', 1);
    await eventually(() => one.shared.get('last') === 1);
    expect(await one.permits.take('slot', 1)).to.equal(true);
    expect(await two.permits.take('slot', 1)).to.equal(false);
    one.permits.release('slot');
    await one.meters.take('taken', 1, { limit: 2, windowMs: 60_000 });
    await one.meters.open('opened', 1, 60_000);
    expect(await one.meters.addOpened('opened', 1)).to.include({ used: 2 });
    expect(await one.meters.read('opened')).to.include({ used: 2 });
    expect(await one.claims.take('claim', 'mine', { ttlMs: 60_000 })).to.equal('mine');
    one.claims.release('claim', 'mine');
    expect(await one.withLock('lock', async () => 1)).to.equal(1);
    const heard = new Promise((resolve) => two.messages.receive('topic', resolve));
    one.messages.send('topic', 'hello');
    expect(await heard).to.equal('hello');
    expect([one.isDown, two.isDown]).to.deep.equal([false, false]);
    const three = await open();
    await three.close();
    const denied = await redis.acl('LOG');
    expect(denied).to.deep.equal([]);
  });

  it('needs no INFO for doctor, which then tells no version', async () => {
    expect((await probeRedis(toRedisAddress(await user('plain')))).version).to.equal(undefined);
    expect((await probeRedis(toRedisAddress(await user('informed', '+info')))).version).to.match(/^\d/);
  });

  for (const [what, rule, named] of [
    ['subscribe', '-subscribe', /subscribe/],
    ['run scripts', '-evalsha', /evalsha/],
    ['write', '-set', /can't run this command/],
    ['see the channels', 'resetchannels', /channel/],
    ['see the keys', 'resetkeys', /key/],
  ] as const)
    it(`is refused by doctor where it may not ${what}`, async () => {
      expect(await refused(await user(`without-${what.replaceAll(' ', '-')}`, rule))).to.match(named);
    });

  it('leaves nothing behind of doctor', async () => {
    await probeRedis(toRedisAddress(await user('probe')));
    await eventually(async () => (await redis.keys('*probe*')).length === 0);
  });
}
