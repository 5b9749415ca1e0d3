import { expect } from 'chai';
import type { Logger } from '@gw2api/gateway/plugin';
import type { RedisLive } from '#src/state/live/redis/live.js';
import { eventually } from '../../../eventually.js';
import { livedMs } from '../../../lived-ms.js';
import { TcpProxy, throughProxy } from '../../../tcp-proxy.js';
import { quiet } from '../../store/stores.js';
import { forgetAll, openRedis, ownRedis, redisUrl } from '../redis-server.js';

describe('an instance at Redis', () => {
  if (redisUrl === undefined) it('is tested where GW_TEST_REDIS_URL names a server');
  else describeRedis(redisUrl);
});

function describeRedis(server: string): void {
  const { hostname, port } = new URL(server);
  const lives: RedisLive[] = [];
  const logged: string[] = [];
  let where: string;
  let remove: () => Promise<void>;
  let proxy: TcpProxy;
  beforeEach(async () => {
    ({ where, remove } = ownRedis(server));
    proxy = await TcpProxy.start(hostname, Number(port || 6379));
    logged.length = 0;
  });
  afterEach(async () => {
    await Promise.all(lives.splice(0).map((live) => live.close()));
    await proxy.close();
    await remove();
  });

  const open = async (url: string, options: { log?: Logger; now?: () => number } = {}) => {
    const live = await openRedis(url, { log: quiet, ...options });
    lives.push(live);
    return live;
  };
  const direct = () => open(where);
  const proxied = () => open(throughProxy(where, proxy), { log: noting(logged) });
  const away = (live: RedisLive) => eventually(() => live.isDown);
  const here = (live: RedisLive) => eventually(() => !live.isDown);

  for (const [how, harm] of [
    ['is cut off', () => proxy.cut()],
    ['freezes', () => proxy.freeze()],
  ] as const)
    describe(`that ${how}`, () => {
      it('is away within two seconds, goes on alone, and comes back', async () => {
        const [one, two] = [await proxied(), await direct()];
        one.shared.set('before', 1);
        harm();
        const tookMs = await livedMs(async () => {
          const taken = await one.meters.take('key', 1, { limit: 5, windowMs: 60_000 });
          expect(taken).to.include({ isAllowed: true });
          expect(await one.permits.take('slot', 1)).to.equal(true);
          expect(await one.withLock('name', async () => 1)).to.equal(1);
        });
        expect(tookMs).to.be.below(1500);
        expect(await livedMs(() => eventually(() => one.isDown))).to.be.below(2000);
        expect(await one.permits.take('slot', 1)).to.equal(false);
        expect(await one.meters.take('key', 1, { limit: 5, windowMs: 60_000 })).to.include({ used: 2 });
        expect(one.shared.get('before')).to.equal(1);
        proxy.forward();
        await here(one);
        one.messages.receive('topic', () => one.shared.set('heard', true));
        two.messages.send('topic', 1);
        await eventually(() => two.shared.get('heard') === true);
        expect(await two.permits.take('slot', 1)).to.equal(false);
        const { used } = (await two.meters.read('key'))!;
        expect(used).to.be.within(1, 2); // what was on its way has arrived, or not
      });

      it('brings together what was written meanwhile: of each key the later write', async () => {
        const [one, two] = [await proxied(), await direct()];
        for (const key of ['a', 'b', 'c', 'd', 'e']) one.shared.set(key, 'old');
        await eventually(() => two.shared.get('e') === 'old');
        harm();
        await away(one);
        one.shared.set('a', 'from one');
        two.shared.set('b', 'from two');
        one.shared.set('c', 'from one');
        await new Promise((resolve) => setTimeout(resolve, 50)); // more than two clocks may differ
        two.shared.set('c', 'from two');
        two.shared.delete('d');
        one.shared.delete('e');
        const told: string[] = [];
        one.shared.watch('', (key, value) => told.push(`${key} ${JSON.stringify(value)}`));
        proxy.forward();
        await here(one);
        const expected = [
          ['a', 'from one'],
          ['b', 'from two'],
          ['c', 'from two'],
        ];
        await eventually(() => two.shared.get('a') === 'from one' && two.shared.get('e') === undefined);
        for (const { shared } of [one, two]) expect(shared.entries('')).to.have.deep.members(expected);
        expect(told).to.have.members(['b "from two"', 'c "from two"', 'd undefined']);
      });

      it('frees what it held for the others within five seconds, and takes it back on return', async () => {
        const [one, two] = [await proxied(), await direct()];
        await one.permits.take('slot', 1);
        await one.permits.take('other', 2);
        await eventually(() => ['slot', 'other'].every((slot) => two.permits.heldElsewhere(slot) === 1));
        const told: string[] = [];
        two.permits.watch((slot) => told.push(slot));
        harm();
        await eventually(() => two.permits.heldElsewhere('slot') === 0);
        expect(told).to.include.members(['slot', 'other']);
        expect(await two.permits.take('slot', 1)).to.equal(true);
        expect(one.permits.heldElsewhere('slot')).to.equal(0);
        proxy.forward();
        await here(one);
        await eventually(() => two.permits.heldElsewhere('other') === 1);
        expect(await two.permits.take('other', 1)).to.equal(false);
        expect(await two.permits.take('slot', 2)).to.equal(false);
        one.permits.release('slot');
        await eventually(() => two.permits.take('slot', 2));
      }).timeout(20_000);

      it('does not keep the others from its work for longer than five seconds', async () => {
        const [one, two] = [await proxied(), await direct()];
        let finish = (): void => undefined;
        let began = (): void => undefined;
        const beginning = new Promise<void>((resolve) => (began = resolve));
        const work = () =>
          new Promise<void>((resolve) => {
            finish = resolve;
            began();
          });
        const held = one.withLock('name', work);
        await beginning;
        harm();
        const started = performance.now();
        expect(await two.withLock('name', async () => 'done')).to.equal('done');
        expect(performance.now() - started).to.be.within(1000, 5000);
        finish();
        await held;
      }).timeout(20_000);

      it('aborts the signal of work that another instance has taken over', async () => {
        const [one, two] = [await proxied(), await direct()];
        let begin: (signal: AbortSignal) => void = () => undefined;
        const begun = new Promise<AbortSignal>((resolve) => (begin = resolve));
        let finish: () => void = () => undefined;
        const end = new Promise<void>((resolve) => (finish = resolve));
        const first = one.withLock('name', async (lost) => {
          begin(lost);
          await end;
        });
        const lost = await begun;
        harm();
        let isTaken = false;
        const second = two.withLock('name', async (kept) => {
          isTaken = true;
          await end;
          return kept.aborted;
        });
        await eventually(() => isTaken);
        expect(lost.aborted).to.equal(false);
        proxy.forward();
        await eventually(() => lost.aborted);
        finish();
        await first;
        expect(await second).to.equal(false);
      }).timeout(20_000);
    });

  it('starts without Redis, says so once, and joins when it answers', async () => {
    proxy.cut();
    const [one, two] = [await proxied(), await direct()];
    expect(one.isDown).to.equal(true);
    one.shared.set('key', 1);
    expect(await one.permits.take('slot', 1)).to.equal(true);
    expect(await one.withLock('name', async () => 1)).to.equal(1);
    proxy.forward();
    await here(one);
    await eventually(() => two.shared.get('key') === 1 && two.permits.heldElsewhere('slot') === 1);
    proxy.freeze();
    await away(one);
    proxy.forward();
    await here(one);
    expect(logged.map((channel) => channel.replace(/127\.0\.0\.1:\d+/, 'HOST'))).to.deep.equal([
      'warn Redis at HOST is unavailable; until it answers, this instance works on its own with the state it has.',
      'info Redis at HOST answers again; the state of the instances is merged.',
      'warn Redis at HOST is unavailable; until it answers, this instance works on its own with the state it has.',
      'info Redis at HOST answers again; the state of the instances is merged.',
    ]);
  });

  it('holds its work for as long as it lasts, longer than the life of a lock', async () => {
    const [one, two] = [await direct(), await direct()];
    const order: string[] = [];
    const long = one.withLock('name', async () => {
      await new Promise((resolve) => setTimeout(resolve, 4600)); // a lock that nobody renews lives for 4 s
      order.push('one');
    });
    await eventually(async () => (await two.meters.add('tick', 1, 1000)).used > 0);
    await Promise.all([long, two.withLock('name', async () => order.push('two'))]);
    expect(order).to.deep.equal(['one', 'two']);
  }).timeout(20_000);

  it('goes on from what it last read of a meter while Redis is away, and tells what was used', async () => {
    const window = { limit: 10, windowMs: 60_000 };
    const [one, two] = [await proxied(), await direct()];
    await one.meters.take('key', 6, window);
    await two.meters.take('key', 1, window);
    proxy.cut();
    await away(one);
    expect(await one.meters.take('key', 5, window)).to.include({ isAllowed: false, used: 6 });
    expect(await one.meters.take('key', 2, window)).to.include({ isAllowed: true, used: 8 });
    expect(await one.meters.add('new', 5, 60_000)).to.include({ used: 5 });
    await one.meters.open('opened', 100, 60_000);
    expect(await one.meters.addOpened('opened', 1)).to.include({ used: 101 });
    proxy.forward();
    await here(one);
    expect(await two.meters.read('key')).to.include({ used: 9 });
    expect(await two.meters.read('new')).to.include({ used: 5 });
    expect(await two.meters.read('opened')).to.equal(undefined); // its start is known better elsewhere
  });

  it('closes meters that were opened with what is known elsewhere, and used while Redis was away', async () => {
    const [one, two] = [await proxied(), await direct()];
    await two.meters.open('used', 100, 60_000);
    await two.meters.open('not used', 100, 60_000);
    await one.meters.read('used');
    proxy.cut();
    await away(one);
    expect(await one.meters.addOpened('used', 1)).to.include({ used: 101 });
    expect(await one.meters.addOpened('unknown', 1)).to.equal(undefined);
    await forgetAll(where);
    await two.meters.open('used', 101, 60_000); // from a ledger that has the use of the other one
    await two.meters.open('not used', 100, 60_000);
    proxy.forward();
    await here(one);
    expect(await two.meters.read('used')).to.equal(undefined);
    expect(await two.meters.addOpened('used', 1)).to.equal(undefined);
    expect(await one.meters.addOpened('not used', 1)).to.include({ used: 101 });
  });

  it('brings back what Redis has lost', async () => {
    const [one, two] = [await proxied(), await direct()];
    one.shared.set('key', 1);
    one.shared.set('short', 1, 60_000);
    await eventually(() => two.shared.get('short') === 1);
    proxy.cut();
    await away(one);
    await forgetAll(where);
    proxy.forward();
    await here(one);
    const three = await direct();
    expect(three.shared.entries('')).to.have.deep.members([
      ['key', 1],
      ['short', 1],
    ]);
  });

  it('joins again where what it wrote meanwhile has expired and gone', async () => {
    const one = await proxied();
    proxy.cut();
    await away(one);
    one.shared.set('short', 1, 1);
    await eventually(() => one.shared.get('short') === undefined);
    for (let count = 0; count < 1000; count += 1) one.shared.set(`key ${count}`, count);
    proxy.forward();
    await here(one);
  }).timeout(20_000);

  it('loses no write of the others while it comes and goes', async () => {
    const [one, two] = [await proxied(), await direct()];
    let written = 0;
    for (let round = 0; round < 4; round += 1) {
      const coming = round === 0 ? Promise.resolve() : here(one);
      for (let at = 0; at < 200; at += 1) {
        two.shared.set(`key ${written}`, written);
        written += 1;
        if (at % 5 === 0) await new Promise(setImmediate);
      }
      await coming;
      proxy.cut();
      await away(one);
      proxy.forward();
    }
    await here(one);
    expect(one.shared.entries('key ')).to.have.lengthOf(written);
  }).timeout(20_000);

  it('keeps times and order right where the clocks of the machines differ', async () => {
    const slow = await open(where, { now: () => Date.now() - 3_600_000 });
    const fast = await open(where, { now: () => Date.now() + 3_600_000 });
    fast.shared.set('key', 'first', 60_000);
    await eventually(() => slow.shared.get('key') === 'first');
    slow.shared.set('key', 'second', 2000); // long enough to be seen on a busy machine
    await eventually(() => fast.shared.get('key') === 'second');
    await eventually(() => fast.shared.get('key') === undefined && slow.shared.get('key') === undefined);
  });

  it('leaves nothing behind of what is over', async () => {
    const one = await direct();
    for (let at = 0; at < 300; at += 1) one.shared.set(`key ${at}`, at, 20);
    await one.shared.flush();
    await new Promise((resolve) => setTimeout(resolve, 30)); // until they have expired
    for (let at = 0; at < 4; at += 1) {
      one.shared.set('last', at, 60_000);
      await one.shared.flush();
    }
    const { shared } = await direct();
    expect(shared.entries('')).to.deep.equal([['last', 3]]);
  });

  it('knows nothing of another prefix or another database', async () => {
    const elsewhere = ownRedis(server);
    const otherDatabase = new URL(where);
    otherDatabase.pathname = '/1';
    const [one, two, three] = [await direct(), await open(elsewhere.where), await open(otherDatabase.href)];
    for (const { shared, messages } of [two, three]) messages.receive('topic', () => shared.set('heard', 1));
    one.shared.set('key', 1);
    one.messages.send('topic', 1);
    await one.permits.take('slot', 1);
    await one.shared.flush();
    const four = await direct();
    await eventually(() => four.permits.heldElsewhere('slot') === 1);
    for (const { shared, permits } of [two, three]) {
      expect(shared.entries('')).to.deep.equal([]);
      expect(permits.heldElsewhere('slot')).to.equal(0);
    }
    await elsewhere.remove();
  });

  it('never says the password, whatever Redis answers', async () => {
    const url = new URL(where);
    url.username = 'somebody';
    url.password = 'a-secret';
    const live = await open(url.href, { log: noting(logged) });
    expect(live.isDown).to.equal(true);
    expect(logged).to.have.lengthOf(1);
    expect(logged.join())
      .to.match(/is unavailable/)
      .and.not.include('a-secret');
  });
}

function noting(lines: string[]): Logger {
  const write = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level} ${message}`);
  const [debug, info, warn, error] = ['debug', 'info', 'warn', 'error'].map(write);
  return { debug: debug!, info: info!, warn: warn!, error: error!, child: () => noting(lines) };
}
