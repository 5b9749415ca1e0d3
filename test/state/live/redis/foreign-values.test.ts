import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { RedisLive } from '#src/state/live/redis/live.js';
import { eventually } from '../../../eventually.js';
import { TcpProxy, throughProxy } from '../../../tcp-proxy.js';
import { quiet } from '../../store/stores.js';
import { openRedis, ownRedis, redisUrl } from '../redis-server.js';

describe('values in Redis that no instance would write', () => {
  if (redisUrl === undefined) it('are tested where GW_TEST_REDIS_URL names a server');
  else describeForeign(redisUrl);
});

function describeForeign(server: string): void {
  const lives: RedisLive[] = [];
  let redis: Redis;
  let where: string;
  let base: string;
  let remove: () => Promise<void>;
  beforeEach(() => {
    ({ where, remove } = ownRedis(server));
    base = `{${new URL(where).searchParams.get('prefix')}}`;
    redis = new Redis(server);
  });
  afterEach(async () => {
    await Promise.all(lives.splice(0).map((live) => live.close()));
    redis.disconnect();
    await remove();
  });

  const open = async () => {
    const live = await openRedis(where, { log: quiet });
    lives.push(live);
    return live;
  };
  const decadeMs = 10 * 365 * 86_400_000;
  const store = (key: string, record: string) => redis.hset(`${base}:shared`, key, record);
  const farRecord = (key: string) => JSON.stringify([Date.now() + decadeMs, 1, 0, key, 'far']);

  it('leave a far-future record out, and let the next write of its key replace it', async () => {
    await store('key', farRecord('key'));
    const [one, two] = [await open(), await open()];
    expect(one.shared.get('key')).to.equal(undefined);
    one.shared.set('key', 'now');
    two.shared.set('other', 'now');
    await eventually(() => two.shared.get('key') === 'now' && one.shared.get('other') === 'now');
    expect(await redis.hget(`${base}:shared`, 'key')).to.include('"now"');
  });

  it('leave a far-future message out: what is written later is not later than it', async () => {
    const [one, two] = [await open(), await open()];
    const { db = 0 } = redis.options;
    await redis.publish(`${base}:${db}:shared`, farRecord('key'));
    one.shared.set('key', 'now');
    await eventually(() => two.shared.get('key') === 'now');
    expect(one.shared.get('key')).to.equal('now');
    const [at] = JSON.parse((await redis.hget(`${base}:shared`, 'key'))!) as [number];
    expect(at).to.be.below(Date.now() + 60_000);
  });

  it('do not come from an instance whose clock was far ahead before it joined', async () => {
    const { hostname, port } = new URL(server);
    const proxy = await TcpProxy.start(hostname, Number(port || 6379));
    try {
      proxy.cut();
      let aheadMs = decadeMs;
      const one = await openRedis(throughProxy(where, proxy), {
        log: quiet,
        now: () => Date.now() + aheadMs,
      });
      lives.push(one);
      one.shared.set('key', 'alone');
      aheadMs = 0;
      const two = await open();
      proxy.forward();
      await eventually(() => two.shared.get('key') === 'alone');
      two.shared.set('key', 'two');
      await eventually(() => one.shared.get('key') === 'two');
    } finally {
      await proxy.close();
    }
  });

  for (const record of ['no JSON', '{}', '[1]', '["a","b",0,"key",1]', '[null,1,0,"key",1]'])
    it(`let an instance join beside the record ${record}, and are replaced`, async () => {
      await store('key', record);
      const one = await open();
      expect(one.isDown).to.equal(false);
      one.shared.set('key', 1);
      await one.shared.flush();
      expect(one.isDown).to.equal(false);
      expect((await open()).shared.get('key')).to.equal(1);
    });

  for (const text of ['text', '', ' 5', 'nan', '1e999', '0x10'])
    it(`end no session where a meter is ${JSON.stringify(text)}: its window begins anew`, async () => {
      const one = await open();
      const set = (name: string) => redis.set(`${base}:meter:${name}`, text, 'PX', 60_000);
      await Promise.all(['taken', 'added', 'read', 'opened'].map(set));
      const window = { limit: 5, windowMs: 60_000 };
      expect(await one.meters.take('taken', 2, window)).to.include({ isAllowed: true, used: 2 });
      expect(await one.meters.add('added', 2, 60_000)).to.include({ used: 2 });
      expect(await one.meters.read('read')).to.equal(undefined);
      expect(await one.meters.addOpened('opened', 1)).to.equal(undefined);
      await one.meters.open('opened', 7, 60_000);
      expect(await one.meters.addOpened('opened', 1)).to.include({ used: 8 });
      expect(one.isDown).to.equal(false);
    });

  it('end no session where a meter is a hash', async () => {
    const one = await open();
    await redis.hset(`${base}:meter:key`, 'field', 1);
    expect(await one.meters.add('key', 2, 60_000)).to.include({ used: 2 });
    expect(one.isDown).to.equal(false);
  });

  it('count as no permit where the number of another instance is text', async () => {
    const [one, two] = [await open(), await open()];
    await redis.hset(`${base}:places`, `${two.instance} slot`, 'text');
    expect(await one.permits.take('slot', 1)).to.equal(true);
    expect(one.isDown).to.equal(false);
  });
}
