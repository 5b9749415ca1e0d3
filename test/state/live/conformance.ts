import { expect } from 'chai';
import type { Json } from '#src/plugin/index.js';
import type { Live } from '#src/plugin/contract/live.js';
import { eventually } from '../../eventually.js';

/** Where the instances of one test meet. */
export interface LiveUnderTest {
  /** One more instance. */
  connect(): Promise<Live>;
  /** After its instances have closed. */
  close(): Promise<void>;
}

export type OpenLive = () => Promise<LiveUnderTest>;

/** What every kind of live state does alike: one suite, run on each of them, with two instances and with three. */
export function describeLive(open: OpenLive): void {
  for (const [count, words] of [
    [2, 'two instances'],
    [3, 'three instances'],
  ] as const)
    describe(`of ${words}`, () => {
      const meeting = new Meeting(open);
      beforeEach(() => meeting.begin(count));
      afterEach(() => meeting.end());
      it('gives each a name of its own, and none of them is away', () => {
        expect(new Set(meeting.all.map(({ instance }) => instance)).size).to.equal(count);
        expect(meeting.all.map(({ isDown }) => isDown)).to.not.include(true);
      });
      it('counts them, where that is known', async () => {
        await eventually(() => meeting.all.every(({ instances = count }) => instances === count));
      });
      describe('the shared map', () => {
        describeSharedMap(meeting);
        it('tells what is left of the time of a key', () => tellsTimeLeft(meeting));
      });
      describe('places', () => describePermits(meeting));
      describe('meters', () => describeMeters(meeting));
      describe('messages', () => describeMessages(meeting));
      describe('claims', () => describeClaims(meeting));
      describe('exclusive work', () => describeExclusively(meeting));
    });
}

/** The instances of the test that runs. */
class Meeting {
  readonly #open: OpenLive;
  #under: LiveUnderTest | undefined;
  #all: Live[] = [];

  constructor(open: OpenLive) {
    this.#open = open;
  }

  get all(): readonly Live[] {
    return this.#all;
  }

  get one(): Live {
    return this.#all[0]!;
  }

  get two(): Live {
    return this.#all[1]!;
  }

  get last(): Live {
    return this.#all.at(-1)!;
  }

  async begin(count: number): Promise<void> {
    this.#under = await this.#open();
    for (let at = 0; at < count; at += 1) await this.join();
  }

  async join(): Promise<Live> {
    const live = await this.#under!.connect();
    this.#all.push(live);
    return live;
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.splice(0).map((live) => live.close()));
    await this.#under!.close();
  }
}

function describeSharedMap(meeting: Meeting): void {
  const everywhere = (key: string, value: Json | undefined) =>
    eventually(() => meeting.all.every(({ shared }) => same(shared.get(key), value)));

  it('gives a write back at once where it was made, and soon everywhere', async () => {
    const values: Json[] = ['text', '', 0, -1.5, true, false, null, [1, [2]], { 'ü "': { deep: [null] } }];
    for (const [at, value] of values.entries()) {
      meeting.one.shared.set(`kéy ${at}`, value);
      expect(meeting.one.shared.get(`kéy ${at}`)).to.deep.equal(value);
    }
    for (const [at, value] of values.entries()) await everywhere(`kéy ${at}`, value);
    expect(meeting.two.shared.get('another')).to.equal(undefined);
  });

  it('lets the later of two writes win, whoever makes it', async () => {
    meeting.one.shared.set('key', 1);
    await everywhere('key', 1);
    meeting.two.shared.set('key', 2);
    await everywhere('key', 2);
    meeting.one.shared.set('key', 3);
    meeting.one.shared.set('key', 4);
    await everywhere('key', 4);
  });

  it('comes to the same everywhere when all write at once', async () => {
    for (let round = 0; round < 50; round += 1) {
      for (const { shared, instance } of meeting.all)
        for (const key of ['a', 'b', 'c']) shared.set(key, `${instance} ${round}`);
      if (round % 10 === 0) await new Promise(setImmediate);
    }
    meeting.one.shared.set('last', true);
    await everywhere('last', true);
    await eventually(() =>
      ['a', 'b', 'c'].every((key) => new Set(meeting.all.map(({ shared }) => shared.get(key))).size === 1),
    );
    expect(meeting.one.shared.get('a')).to.match(/ 49$/);
  });

  it('forgets a deleted key everywhere, and takes it again', async () => {
    meeting.one.shared.set('key', 1);
    await everywhere('key', 1);
    meeting.two.shared.delete('key');
    expect(meeting.two.shared.get('key')).to.equal(undefined);
    await everywhere('key', undefined);
    meeting.one.shared.delete('key');
    meeting.one.shared.set('key', 2);
    await everywhere('key', 2);
  });

  it('lets a key go after its time everywhere, and tells nobody', async () => {
    const heard: unknown[] = [];
    meeting.two.shared.watch('', (key, value) => heard.push([key, value]));
    meeting.one.shared.set('short', 1, 400);
    meeting.one.shared.set('long', 1, 60_000);
    meeting.one.shared.set('renewed', 1, 400);
    meeting.one.shared.set('renewed', 2);
    await everywhere('long', 1);
    await everywhere('short', 1);
    await everywhere('renewed', 2);
    await everywhere('short', undefined);
    const kept = [
      ['long', 1],
      ['renewed', 2],
    ];
    for (const { shared } of meeting.all) expect(shared.entries('')).to.have.deep.members(kept);
    expect(heard.filter((each) => JSON.stringify(each).includes('short'))).to.have.lengthOf(1);
  });

  it('lists what begins with a prefix', async () => {
    for (const key of ['slot/a', 'slot/b', 'slots', 'other']) meeting.one.shared.set(key, key);
    meeting.one.shared.delete('slot/b');
    meeting.one.shared.set('slot/c', 3);
    await everywhere('slot/c', 3);
    const expected = [
      ['slot/a', 'slot/a'],
      ['slot/c', 3],
    ];
    for (const { shared } of meeting.all) expect(shared.entries('slot/')).to.have.deep.members(expected);
  });

  it('tells watchers of what others write and delete under their prefix, until they stop', async () => {
    const heard: unknown[] = [];
    const own: unknown[] = [];
    const stop = meeting.two.shared.watch('slot/', (key, value) => heard.push([key, value]));
    meeting.one.shared.watch('slot/', (key, value) => own.push([key, value]));
    meeting.one.shared.set('other', 0);
    meeting.one.shared.set('slot/a', 1);
    await everywhere('slot/a', 1);
    meeting.one.shared.delete('slot/a');
    await everywhere('slot/a', undefined);
    expect(heard).to.deep.equal([
      ['slot/a', 1],
      ['slot/a', undefined],
    ]);
    stop();
    meeting.one.shared.set('slot/b', 1);
    await everywhere('slot/b', 1);
    expect(heard).to.have.lengthOf(2);
    expect(own).to.deep.equal([]);
  });

  it('is known as a whole to an instance that comes later', async () => {
    for (let at = 0; at < 500; at += 1) meeting.one.shared.set(`key ${at}`, at);
    meeting.one.shared.set('over', 1, 1);
    meeting.one.shared.set('gone', 1);
    meeting.one.shared.delete('gone');
    meeting.one.shared.set('last', 1);
    await everywhere('last', 1);
    const { shared } = await meeting.join();
    expect(shared.entries('key ')).to.have.lengthOf(500);
    expect(shared.get('gone')).to.equal(undefined);
    await eventually(() => shared.get('over') === undefined);
  });

  it('misses nothing that is written while an instance joins', async () => {
    const joining = Array.from({ length: 5 }, () => meeting.join());
    for (let at = 0; at < 300; at += 1) {
      meeting.all[at % 2]!.shared.set(`key ${at}`, at);
      if (at % 10 === 0) await new Promise(setImmediate);
    }
    await Promise.all(joining);
    await eventually(() => meeting.all.every(({ shared }) => shared.entries('key ').length === 300));
  });
}

function describePermits(meeting: Meeting): void {
  it('are never more than the limit, however many ask at once', async () => {
    const takes = Array.from({ length: 60 }, async (_, at) => {
      const { permits } = meeting.all[at % meeting.all.length]!;
      return permits.take('slot', 10);
    });
    const taken = await Promise.all(takes);
    expect(taken.filter(Boolean)).to.have.lengthOf(10);
    expect(await meeting.one.permits.take('another slot', 1)).to.equal(true);
  });

  it('can be taken by another instance once they are given back', async () => {
    expect(await meeting.one.permits.take('slot', 1)).to.equal(true);
    expect(await meeting.two.permits.take('slot', 1)).to.equal(false);
    expect(await meeting.last.permits.take('slot', 2)).to.equal(true);
    meeting.one.permits.release('slot');
    await eventually(async () => meeting.one.permits.take('slot', 2));
    expect(await meeting.two.permits.take('slot', 2)).to.equal(false);
  });

  it('of the others are known soon, and those who watch are told', async () => {
    const told: string[] = [];
    const own: string[] = [];
    const stop = meeting.two.permits.watch((slot) => told.push(slot));
    meeting.one.permits.watch((slot) => own.push(slot));
    await meeting.one.permits.take('slot', 5);
    await meeting.one.permits.take('slot', 5);
    await eventually(() => meeting.two.permits.heldElsewhere('slot') === 2);
    expect(meeting.one.permits.heldElsewhere('slot')).to.equal(0);
    expect(told).to.include('slot');
    const before = told.length;
    meeting.one.permits.release('slot');
    await eventually(() => meeting.two.permits.heldElsewhere('slot') === 1);
    expect(told.length).to.be.above(before);
    stop();
    const after = told.length;
    meeting.one.permits.release('slot');
    await eventually(() => meeting.two.permits.heldElsewhere('slot') === 0);
    expect(told).to.have.lengthOf(after);
    expect(own).to.deep.equal([]);
  });

  it('of an instance that closes are free, and those who watch are told', async () => {
    const leaver = await meeting.join();
    const told: string[] = [];
    await leaver.permits.take('slot', 1);
    await eventually(() => meeting.one.permits.heldElsewhere('slot') === 1);
    meeting.one.permits.watch((slot) => told.push(slot));
    await leaver.close();
    await eventually(() => meeting.one.permits.heldElsewhere('slot') === 0);
    expect(told).to.deep.equal(['slot']);
    expect(await meeting.one.permits.take('slot', 1)).to.equal(true);
  });

  it('are known to an instance that comes later', async () => {
    await meeting.one.permits.take('slot', 1);
    const { permits } = await meeting.join();
    expect(await permits.take('slot', 1)).to.equal(false);
    await eventually(() => permits.heldElsewhere('slot') === 1);
  });

  it('are not given back more often than they were taken', async () => {
    meeting.one.permits.release('slot');
    await meeting.two.permits.take('slot', 2);
    meeting.one.permits.release('slot');
    const taken = await Promise.all([
      meeting.one.permits.take('slot', 2),
      meeting.one.permits.take('slot', 2),
    ]);
    expect(taken.filter(Boolean)).to.have.lengthOf(1);
  });
}

function describeMeters(meeting: Meeting): void {
  const minute = 60_000;

  it('allow what fits into the limit, over all instances, however many ask at once', async () => {
    const takes = Array.from({ length: 40 }, async (_, at) => {
      const { meters } = meeting.all[at % meeting.all.length]!;
      return meters.take('key', 3, { limit: 50, windowMs: minute });
    });
    const readings = await Promise.all(takes);
    expect(readings.filter(({ isAllowed }) => isAllowed)).to.have.lengthOf(16);
    for (const { used, resetsInMs } of readings) {
      expect(used).to.be.within(3, 48);
      expect(resetsInMs).to.be.within(1, minute);
    }
    expect(await meeting.two.meters.read('key')).to.include({ used: 48 });
    expect(await meeting.two.meters.take('key', 2, { limit: 50, windowMs: minute })).to.include({
      isAllowed: true,
      used: 50,
    });
    expect(await meeting.two.meters.take('another', 1, { limit: 1, windowMs: minute })).to.include({
      isAllowed: true,
    });
  });

  it('add whatever was used, also beyond a limit', async () => {
    expect(await meeting.one.meters.add('key', 70, minute)).to.include({ used: 70 });
    expect(await meeting.two.meters.add('key', 0.5, minute)).to.include({ used: 70.5 });
    const refused = await meeting.last.meters.take('key', 1, { limit: 50, windowMs: minute });
    expect(refused).to.include({ isAllowed: false, used: 70.5 });
  });

  it('begin anew when their window is over, which begins with the first use', async () => {
    const window = { limit: 1, windowMs: 200 };
    expect(await meeting.one.meters.take('key', 1, window)).to.include({ isAllowed: true });
    const refused = await meeting.two.meters.take('key', 1, { limit: 1, windowMs: minute });
    expect(refused.isAllowed).to.equal(false);
    expect(refused.resetsInMs).to.be.within(1, 200);
    await eventually(async () => (await meeting.two.meters.read('key')) === undefined);
    expect(await meeting.two.meters.take('key', 1, window)).to.include({ isAllowed: true, used: 1 });
  });

  it('can be opened with what was used before, where no window is open', async () => {
    expect(await meeting.one.meters.read('key')).to.equal(undefined);
    await meeting.one.meters.open('key', 10, minute);
    await meeting.two.meters.open('key', 20, minute);
    expect(await meeting.two.meters.read('key')).to.include({ used: 10 });
    expect(await meeting.two.meters.add('key', 1, 1)).to.include({ used: 11 });
    expect(await meeting.one.meters.addOpened('key', 1)).to.include({ used: 12 });
  });

  it('are raised where they are open and have less', async () => {
    const { one, two } = meeting;
    expect(await one.meters.raise('key', 10)).to.equal(undefined);
    await one.meters.open('key', 10, minute);
    expect(await two.meters.raise('key', 123_456_789_012_345)).to.include({ used: 123_456_789_012_345 });
    expect(await one.meters.raise('key', 5)).to.include({ used: 123_456_789_012_345 });
    expect((await one.meters.read('key'))?.resetsInMs).to.be.within(1, minute);
  });

  it('are not added to while none is open, where that is asked for', async () => {
    expect(await meeting.one.meters.addOpened('key', 1)).to.equal(undefined);
    expect(await meeting.two.meters.read('key')).to.equal(undefined);
  });
}

function describeMessages(meeting: Meeting): void {
  it('come to all others that listen to their topic, in order, and not to the sender', async () => {
    const heard = meeting.all.map(() => [] as Json[]);
    for (const [at, { messages }] of meeting.all.entries())
      messages.receive('keys', (message) => heard[at]!.push(message));
    meeting.two.messages.receive('other', () => heard[1]!.push('wrong'));
    meeting.one.messages.send('keys', { id: 'k1' });
    meeting.one.messages.send('nobody', 1);
    meeting.one.messages.send('keys', null);
    await eventually(() => heard.slice(1).every((each) => each.length === 2));
    for (const each of heard.slice(1)) expect(each).to.deep.equal([{ id: 'k1' }, null]);
    expect(heard[0]).to.deep.equal([]);
  });

  it('come no longer to who has stopped', async () => {
    const heard: Json[] = [];
    const stopped: Json[] = [];
    meeting.two.messages.receive('topic', (message) => heard.push(message));
    const stop = meeting.two.messages.receive('topic', (message) => stopped.push(message));
    meeting.one.messages.send('topic', 1);
    await eventually(() => heard.length === 1);
    stop();
    meeting.one.messages.send('topic', 2);
    await eventually(() => heard.length === 2);
    expect(stopped).to.deep.equal([1]);
  });
}

function describeExclusively(meeting: Meeting): void {
  it('goes on one at a time over all instances, and gives what the work gives', async () => {
    let atOnce = 0;
    let max = 0;
    const work = async (): Promise<number> => {
      atOnce += 1;
      max = Math.max(max, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return 7;
    };
    const everyone = [...meeting.all, ...meeting.all, ...meeting.all];
    const results = await Promise.all(everyone.map((live) => live.withLock('name', work)));
    expect(results).to.deep.equal(everyone.map(() => 7));
    expect(max).to.equal(1);
  });

  it('waits for nothing of another name', async () => {
    let finish = (): void => undefined;
    const long = meeting.one.withLock('long', () => new Promise<void>((resolve) => (finish = resolve)));
    expect(await meeting.two.withLock('short', async () => 1)).to.equal(1);
    expect(await meeting.one.withLock('short', async () => 2)).to.equal(2);
    finish();
    await long;
  });

  it('lets the next one on where the work fails', async () => {
    const failed = meeting.one.withLock('name', () => Promise.reject(new Error('no')));
    const next = meeting.two.withLock('name', async () => 'done');
    const after = meeting.one.withLock('name', async () => 'also done');
    expect(await failed.catch((error: Error) => error.message)).to.equal('no');
    expect(await next).to.equal('done');
    expect(await after).to.equal('also done');
  });
}

function same(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function describeClaims(meeting: Meeting): void {
  const ttlMs = 30_000;

  it('are for the value of whoever came first, in all instances', async () => {
    const asked = meeting.all.map(async ({ claims }, index) => claims.take('c', `v${index}`, { ttlMs }));
    const values = new Set(await Promise.all(asked));
    expect(values.size).to.equal(1);
    const [value = ''] = values;
    expect(await meeting.two.claims.take('c', 'later', { ttlMs })).to.equal(value);
    expect(await meeting.two.claims.take('other', 'later', { ttlMs })).to.equal('later');
  });

  it('can be replaced by who knows them, and ended', async () => {
    const { one, two } = meeting;
    await one.claims.take('c', 'old', { ttlMs });
    expect(await two.claims.take('c', 'new', { ttlMs, instead: 'something else' })).to.equal('old');
    expect(await two.claims.take('c', 'new', { ttlMs, instead: 'old' })).to.equal('new');
    one.claims.release('c', 'old');
    expect(await one.claims.take('c', 'old', { ttlMs })).to.equal('new');
    two.claims.release('c', 'new');
    await eventually(async () => (await one.claims.take('c', 'next', { ttlMs })) === 'next');
  });

  it('end by themselves', async () => {
    const { one, two } = meeting;
    await one.claims.take('c', 'short', { ttlMs: 20 });
    await eventually(async () => (await two.claims.take('c', 'next', { ttlMs })) === 'next');
  });
}

async function tellsTimeLeft({ one, two }: Meeting): Promise<void> {
  one.shared.set('timed', 1, 60_000);
  one.shared.set('lasting', 1);
  await eventually(() => two.shared.get('timed') !== undefined && two.shared.get('lasting') !== undefined);
  for (const { shared } of [one, two]) {
    expect(shared.ttlMs('timed')).to.be.within(30_000, 60_050);
    expect(shared.ttlMs('lasting')).to.equal(Infinity);
    expect(shared.ttlMs('none')).to.equal(undefined);
  }
}
