import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { withUsageFloor } from '#src/state/live/usage-floor.js';
import { LimitMeters, limitWindow } from '#src/plugin/index.js';
import type { Meters } from '#src/plugin/contract/live.js';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { Store } from '#src/state/store/contract/store.js';
import { fakeHost, MemoryHub, MemoryStore, type FakeHost } from '@gw2api/gateway/testing';

const key = (id: string) => ({ kind: 'key', id }) as const;

describe("a limit's window", () => {
  const at = (limit: 'tokensPerDay' | 'tokensPerMonth', time: string) => {
    const { period } = limitWindow(limit, key('k'), Date.parse(time));
    return [period!.fromMs, period!.toMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
  };

  it('of a day or a month is that of the calendar, in UTC', () => {
    expect(at('tokensPerDay', '2026-03-31T23:59:59.999Z')).to.deep.equal([
      '2026-03-31T00:00',
      '2026-04-01T00:00',
    ]);
    expect(at('tokensPerMonth', '2024-02-29T12:00:00Z')).to.deep.equal([
      '2024-02-01T00:00',
      '2024-03-01T00:00',
    ]);
    expect(at('tokensPerMonth', '2026-12-31T23:59:59Z')).to.deep.equal([
      '2026-12-01T00:00',
      '2027-01-01T00:00',
    ]);
  });

  it('has a meter of its own for each key, limit and period', () => {
    const noon = Date.parse('2026-01-01T12:00:00Z');
    const meters = (['tokensPerMinute', 'tokensPerDay', 'tokensPerMonth'] as const).flatMap((limit) => [
      limitWindow(limit, key('a'), noon).meter,
      limitWindow(limit, key('b'), noon).meter,
    ]);
    meters.push(limitWindow('tokensPerDay', key('a'), noon + 86_400_000).meter);
    expect(new Set(meters).size).to.equal(7);
  });
});

describe('limit meters', () => {
  const midnight = Date.parse('2026-03-10T00:00:00Z');
  let nowMs: number;
  let store: Store;
  let hub: MemoryHub;
  let asked: number;
  /** True while the other instances cannot be reached. */
  let isAlone: boolean;
  let host: FakeHost;
  const now = () => nowMs;
  beforeEach(() => {
    nowMs = midnight + 15 * 3_600_000;
    store = new MemoryStore({ now });
    hub = new MemoryHub({ now });
    asked = 0;
    isAlone = false;
  });

  const counting = (usage: Store['ledger']['usage']): Store['ledger']['usage'] => {
    return async (query) => {
      if (query.everywhere === 'waiting') return []; // asks no store
      asked += 1;
      return usage(query);
    };
  };

  /** Meters of the live state there is, which may have lost all that it had. */
  const lastingMeters: Meters = {
    take: (...args) => hub.connect().meters.take(...args),
    add: (...args) => hub.connect().meters.add(...args),
    addOpened: (...args) => hub.connect().meters.addOpened(...args),
    read: (...args) => hub.connect().meters.read(...args),
    open: (...args) => hub.connect().meters.open(...args),
    raise: (...args) => hub.connect().meters.raise(...args),
  };

  /** The meters of one more instance. */
  function connect(usage: Store['ledger']['usage'] = (query) => store.ledger.usage(query)): LimitMeters {
    const ledger = Object.assign(Object.create(store.ledger) as Store['ledger'], { usage: counting(usage) });
    const live = withUsageFloor({ ...hub.connect(), isDown: isAlone, meters: lastingMeters });
    host = fakeHost({ now, live, store: { ...store, ledger } });
    return new LimitMeters(host);
  }

  const day = () => limitWindow('tokensPerDay', key('k'), nowMs);
  const month = () => limitWindow('tokensPerMonth', key('k'), nowMs);
  const usedIn = async (meters: LimitMeters, window = day()) => (await meters.read(window)).used;

  let rows = 0;
  function row(atMs: number, input: number, keyId = 'k'): LedgerRow {
    const tokens = { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
    return {
      id: String((rows += 1)),
      atMs,
      requestId: 'r',
      keyId,
      format: 'messages',
      pipeline: 'default',
      status: 200,
      failed: false,
      streamed: false,
      attempts: 1,
      durationMs: 1,
      billed: { ...tokens, input: input + 1000 },
      shown: tokens,
    };
  }

  it('begin a day and a month with what the ledger knows of the key', async () => {
    const lastMonth = Date.parse('2026-02-28T23:59:59.999Z');
    await store.ledger.append([
      row(lastMonth, 1),
      row(Date.parse('2026-03-01T00:00:00Z'), 10),
      row(midnight - 1, 100),
      row(midnight, 1000),
      row(nowMs, 10_000),
      row(nowMs, 100_000, 'another'),
    ]);
    const meters = connect();
    expect(await usedIn(meters)).to.equal(11_000);
    expect(await usedIn(meters, month())).to.equal(11_110);
  });

  it('ask the ledger once, however many wait for it, and never again once a meter is open', async () => {
    const meters = connect();
    await Promise.all(Array.from({ length: 50 }, async () => meters.read(day())));
    await meters.add(day(), 5);
    expect(await usedIn(meters)).to.equal(5);
    expect(asked).to.equal(1);
    await meters.read(limitWindow('tokensPerMinute', key('k'), nowMs));
    expect(asked).to.equal(1);
  });

  it('do not count twice what two instances find in the ledger at once', async () => {
    await store.ledger.append([row(nowMs, 70)]);
    const [one, two] = [connect(), connect()];
    await Promise.all([one.read(day()), two.read(day())]);
    await one.add(day(), 7);
    await two.add(day(), 7);
    expect(await Promise.all([usedIn(one), usedIn(two)])).to.deep.equal([84, 84]);
  });

  it('begin anew at midnight, and tell when that is', async () => {
    const meters = connect();
    await meters.read(day());
    await meters.add(day(), 5);
    expect(await meters.read(day())).to.deep.equal({ used: 5, resetsInMs: 9 * 3_600_000 });
    nowMs = midnight + 86_400_000 - 1;
    expect(await meters.read(day())).to.deep.equal({ used: 5, resetsInMs: 1 });
    nowMs += 1;
    expect(await usedIn(meters)).to.equal(0);
  });

  it('let what began on a day count for that day', async () => {
    const meters = connect();
    const yesterday = day();
    await meters.read(yesterday);
    nowMs = midnight + 86_400_000;
    await meters.add(yesterday, 5);
    expect(await usedIn(meters)).to.equal(0);
  });

  it('find again in the ledger what the instances have lost', async () => {
    const meters = connect();
    await meters.read(day());
    await meters.add(day(), 5);
    hub = new MemoryHub({ now });
    const after = connect();
    await store.ledger.append([row(nowMs, 5)]);
    await after.add(day(), 2); // its row is written after that
    await store.ledger.append([row(nowMs, 2)]);
    expect(await usedIn(after)).to.equal(7);
  });

  it('find also what settles while the ledger is asked', async () => {
    const [summed, answered] = [new EventEmitter(), new EventEmitter()];
    const isSummed = once(summed, 'now');
    const meters = connect(async (query) => {
      const sums = await store.ledger.usage(query);
      summed.emit('now');
      if (asked === 1) await once(answered, 'now');
      return sums;
    });
    const reading = meters.read(day());
    await isSummed;
    const adding = Promise.resolve(meters.add(day(), 5)).then(() => store.ledger.append([row(nowMs, 5)]));
    answered.emit('now');
    await Promise.all([reading, adding]);
    expect(await usedIn(meters)).to.equal(5);
    await meters.add(day(), 2);
    expect(await usedIn(meters)).to.equal(7);
  });

  it('count from nothing while the ledger cannot be read, and ask it again after a minute', async () => {
    let isDown = true;
    const meters = connect(async (query) => {
      if (isDown) throw new Error('away');
      return store.ledger.usage(query);
    });
    await store.ledger.append([row(nowMs, 100)]);
    expect(await usedIn(meters)).to.equal(0);
    await meters.add(day(), 5);
    expect(await usedIn(meters)).to.equal(5);
    expect(asked).to.equal(1);
    isDown = false;
    await store.ledger.append([row(nowMs, 5)]);
    nowMs += 60_000;
    expect(await usedIn(meters)).to.equal(105);
  });

  it('go on from what was known of them where the live state is lost and the ledger cannot be read', async () => {
    let isDown = false;
    const meters = connect(async (query) => {
      if (isDown) throw new Error('away');
      return store.ledger.usage(query);
    });
    await store.ledger.append([row(nowMs, 100)]);
    await meters.add(day(), 5); // its row is spooled
    isDown = true;
    hub = new MemoryHub({ now });
    expect(await usedIn(meters)).to.equal(105);
    await meters.add(day(), 2);
    for (let minute = 0; minute < 3; minute += 1) {
      nowMs += 60_000;
      expect(await usedIn(meters), `${minute}`).to.equal(107);
    }
    expect(host.logged.map(({ level, fields }) => [level, (fields as { used?: number }).used])).to.deep.equal(
      [
        ['warn', 105],
        ['warn', 107],
        ['warn', 107],
        ['warn', 107],
      ],
    );
    isDown = false;
    nowMs += 60_000;
    expect(await usedIn(meters)).to.equal(107);
    await store.ledger.append([row(nowMs, 5), row(nowMs, 2)]);
    hub = new MemoryHub({ now });
    await store.ledger.append([row(nowMs, 10)]);
    expect(await usedIn(meters)).to.equal(117);
  });

  it('have what the others use by way of the ledger, while the others cannot be reached', async () => {
    isAlone = true;
    const meters = connect();
    await meters.add(day(), 5);
    await store.ledger.append([row(nowMs, 5), row(nowMs, 30)]); // its own, and one of another instance
    expect(await usedIn(meters)).to.equal(35);
    await meters.add(day(), 2);
    expect(await usedIn(meters)).to.equal(37);
    expect(asked).to.equal(2);
  });

  it('begin at the most that one of the instances knows, where live state and ledger are lost', async () => {
    const usage = () => Promise.reject(new Error('away'));
    const second = withUsageFloor({ ...hub.connect(), meters: lastingMeters });
    const first = connect(usage);
    await first.read(day());
    await second.meters.addOpened(day().meter, 7); // it alone has seen that
    nowMs += 60_000;
    expect(await usedIn(first)).to.equal(7);
  });

  it('are not opened by somebody who only looks, where the ledger cannot be read', async () => {
    const meters = connect(() => Promise.reject(new Error('away')));
    await meters.restore(day());
    expect(await hub.connect().meters.read(day().meter)).to.equal(undefined);
    const reader = connect();
    await store.ledger.append([row(nowMs, 7)]);
    await reader.restore(day());
    expect((await hub.connect().meters.read(day().meter))?.used).to.equal(7);
  });

  it('are opened by somebody who only looks for no longer than a minute, as the ledger may lack requests', async () => {
    const meters = connect();
    await store.ledger.append([row(nowMs, 100)]);
    await meters.add(day(), 5); // its row is spooled
    hub = new MemoryHub({ now });
    await connect().restore(day());
    expect(await usedIn(meters)).to.equal(100);
    await meters.add(day(), 2);
    await store.ledger.append([row(nowMs, 5), row(nowMs, 2)]);
    nowMs += 60_000;
    expect(await usedIn(meters)).to.equal(107);
  });

  it('do not wait for a ledger that is silent', async () => {
    const meters = connect(() => new Promise(() => undefined));
    expect(await usedIn(meters)).to.equal(0);
  });

  it('count a minute from its first use, without the ledger', async () => {
    const meters = connect();
    const minute = limitWindow('tokensPerMinute', key('k'), nowMs);
    expect(await meters.read(minute)).to.deep.equal({ used: 0, resetsInMs: 0 });
    await meters.add(minute, 3);
    nowMs += 59_999;
    expect(await meters.read(minute)).to.deep.equal({ used: 3, resetsInMs: 1 });
    nowMs += 1;
    expect(await meters.read(minute)).to.deep.equal({ used: 0, resetsInMs: 0 });
    expect(asked).to.equal(0);
  });
});
