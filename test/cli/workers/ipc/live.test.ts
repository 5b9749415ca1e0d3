import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Live } from '#src/plugin/contract/live.js';
import { eventually } from '../../../eventually.js';
import { IpcRig } from '../../../state/live/ipc-rig.js';

describe('what processes share through their primary', () => {
  let rig: IpcRig;
  let a: Live;
  let b: Live;
  let c: Live;
  beforeEach(async () => {
    rig = new IpcRig();
    [a, b, c] = [await rig.connect(), await rig.connect(), await rig.connect()];
  });
  afterEach(() => rig.end());

  /** Resolves when everything said so far has been heard, answers and what follows from them included. */
  async function quiet(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1)
      await Promise.all([a, b, c].map(async (live) => live.meters.read('none')));
  }

  function watched(live: Live, prefix = ''): Promise<readonly [string, unknown]> {
    return new Promise((resolve) => {
      const stop = live.shared.watch(prefix, (key, value) => {
        stop();
        resolve([key, value]);
      });
    });
  }

  function changeOf(live: Live, slot: string): Promise<void> {
    return new Promise((resolve) => {
      const stop = live.permits.watch((changed) => {
        if (changed !== slot) return;
        stop();
        resolve();
      });
    });
  }

  it('gives each of them a name of its own', () => {
    expect(new Set([a.instance, b.instance, c.instance])).to.have.property('size', 3);
  });

  it('tells each of them how many there are', async () => {
    await quiet();
    expect([a, b, c].map(({ instances }) => instances)).to.deep.equal([3, 3, 3]);
    await c.close();
    await eventually(() => a.instances === 2 && b.instances === 2);
  });

  describe('the shared map', () => {
    it('shows a write at once where it was made, and soon elsewhere', async () => {
      const seen = watched(b);
      a.shared.set('k', { deep: [1, null] });
      expect(a.shared.get('k')).to.deep.equal({ deep: [1, null] });
      expect(await seen).to.deep.equal(['k', { deep: [1, null] }]);
      expect(b.shared.get('k')).to.deep.equal({ deep: [1, null] });
      const gone = watched(a);
      b.shared.delete('k');
      expect(await gone).to.deep.equal(['k', undefined]);
      expect(a.shared.get('k')).to.equal(undefined);
    });

    it('brings one that comes later what is there, with the time that it has left', async () => {
      let nowMs = 1000;
      const timed = new IpcRig({ now: () => nowMs });
      const first = await timed.connect();
      first.shared.set('short', 1, 500);
      first.shared.set('long', 2);
      await first.meters.read('none');
      nowMs += 400;
      const second = await timed.connect();
      expect(second.shared.entries('')).to.deep.equal([
        ['short', 1],
        ['long', 2],
      ]);
      nowMs += 101;
      expect(second.shared.entries('')).to.deep.equal([['long', 2]]);
      timed.end();
    });

    it('holds the same everywhere in the end, whoever wrote what when', async () => {
      const step = fc.record({
        by: fc.nat(2),
        key: fc.constantFrom('x', 'y'),
        value: fc.option(fc.nat(9)),
        wait: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const lives = [a, b, c];
          for (const { by, key, value, wait } of steps) {
            if (value === null) lives[by]!.shared.delete(key);
            else lives[by]!.shared.set(key, value);
            if (wait) await lives[by]!.meters.read('none');
          }
          await quiet();
          const [inA, inB, inC] = lives.map(({ shared }) => [shared.get('x'), shared.get('y')]);
          expect(inB).to.deep.equal(inA);
          expect(inC).to.deep.equal(inA);
        }),
        { numRuns: 100 },
      );
    });
  });

  describe('places', () => {
    it('are never held by more than the limit, and none stays away from who asks again', async () => {
      const step = fc.record({ by: fc.nat(2), takes: fc.boolean(), wait: fc.boolean() });
      const limits = fc.integer({ min: 1, max: 20 });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { maxLength: 80 }), async (limit, steps) => {
          const slot = `slot-${(round += 1)}`;
          const permits = [a, b, c].map((live) => live.permits);
          const held = [0, 0, 0];
          const sum = () => held[0]! + held[1]! + held[2]!;
          const under: Promise<void>[] = [];
          const take = async (by: number) => {
            if (!(await permits[by]!.take(slot, limit))) return;
            held[by]! += 1;
            expect(sum()).to.be.at.most(limit);
          };
          for (const { by, takes, wait } of steps) {
            if (takes) under.push(take(by));
            else if (held[by]! > 0) {
              held[by]! -= 1;
              permits[by]!.release(slot);
            }
            if (wait)
              await Promise.resolve(permits[by]!.take('other', 1)).then(() => permits[by]!.release('other'));
          }
          await Promise.all(under);
          await quiet();
          while (sum() < limit) {
            const before = sum();
            await take(sum() % 3);
            expect(sum(), 'a free place was refused').to.equal(before + 1);
          }
          for (const [by, count] of held.entries())
            for (let i = 0; i < count; i += 1) permits[by]!.release(slot);
        }),
        { numRuns: 150 },
      );
    });

    it('are known to the others, and told when they come free', async () => {
      const full = changeOf(b, 's');
      expect(await a.permits.take('s', 1)).to.equal(true);
      await full;
      expect(b.permits.heldElsewhere('s')).to.equal(1);
      expect(await b.permits.take('s', 1)).to.equal(false);
      const free = changeOf(b, 's');
      a.permits.release('s');
      await free;
      expect(b.permits.heldElsewhere('s')).to.equal(0);
      expect(await b.permits.take('s', 1)).to.equal(true);
    });

    it('are known to one that comes later', async () => {
      expect(await a.permits.take('s', 3)).to.equal(true);
      await changeOf(b, 's');
      expect((await rig.connect()).permits.heldElsewhere('s')).to.equal(1);
    });

    it('are free at once when the one that held them is killed', async () => {
      expect(await a.permits.take('s', 1)).to.equal(true);
      expect(await b.permits.take('s', 1)).to.equal(false);
      const free = changeOf(b, 's');
      rig.kill(a);
      await free;
      expect(await b.permits.take('s', 1)).to.equal(true);
    });

    it('are taken without asking while there are plenty', async () => {
      await a.permits.take('s', 100);
      const before = rig.messages;
      for (let i = 0; i < 1000; i += 1) {
        expect(a.permits.take('s', 100)).to.equal(true);
        a.permits.release('s');
      }
      await quiet();
      expect(rig.messages - before).to.be.below(100);
    });

    it('follow a limit that is lowered', async () => {
      for (let i = 0; i < 2; i += 1) expect(await a.permits.take('s', 20)).to.equal(true);
      expect(await b.permits.take('s', 2)).to.equal(false);
      expect(await a.permits.take('s', 2)).to.equal(false);
      a.permits.release('s');
      await quiet();
      expect(await b.permits.take('s', 2)).to.equal(true);
      expect(await b.permits.take('s', 2)).to.equal(false);
    });
  });

  describe('meters', () => {
    it('are used up together', async () => {
      const window = { limit: 3, windowMs: 60_000 };
      const takes = await Promise.all([a, b, c, a, b].map(async ({ meters }) => meters.take('m', 1, window)));
      expect(takes.filter(({ isAllowed }) => isAllowed)).to.have.length(3);
      expect((await c.meters.add('m', 2, 60_000)).used).to.equal(5);
      expect((await a.meters.read('m'))?.used).to.equal(5);
      expect(await a.meters.read('unknown')).to.equal(undefined);
      await b.meters.open('n', 7, 60_000);
      expect((await a.meters.read('n'))?.used).to.equal(7);
    });
  });

  describe('messages', () => {
    it('reach the others that listen, as long as they do', async () => {
      const heard: unknown[] = [];
      const stop = b.messages.receive('t', (message) => heard.push(message));
      a.messages.receive('t', () => heard.push('its own'));
      c.messages.receive('u', () => heard.push('another topic'));
      await quiet();
      a.messages.send('t', { n: 1 });
      await quiet();
      stop();
      a.messages.send('t', { n: 2 });
      await quiet();
      expect(heard).to.deep.equal([{ n: 1 }]);
    });
  });

  describe('work that goes on one at a time', () => {
    it('does not overlap, here or there, and goes on when a holder is killed', async () => {
      let running = 0;
      const work = async () => {
        expect((running += 1)).to.equal(1);
        await quiet();
        running -= 1;
      };
      await Promise.all([a, a, b, c].map((live) => live.withLock('w', work)));
      const taken = new Promise<void>((resolve) => {
        void a.withLock('w', () => new Promise(() => resolve()));
      });
      await taken;
      const next = b.withLock('w', async () => 'done');
      rig.kill(a);
      expect(await next).to.equal('done');
    });

    it('gives what the work gives, and throws what it throws', async () => {
      expect(await a.withLock('w', async () => 1)).to.equal(1);
      const failed = await a.withLock('w', () => Promise.reject(new Error('no'))).catch(String);
      expect(failed).to.equal('Error: no');
      expect(await b.withLock('w', async () => 2)).to.equal(2);
    });
  });

  describe('when the primary has gone', () => {
    it('goes on for each process alone', async () => {
      await a.permits.take('s', 2);
      expect(a.isDown).to.equal(false);
      const asked = a.permits.take('full', 1);
      const metered = a.meters.take('m', 1, { limit: 1, windowMs: 1000 });
      rig.kill(a);
      expect(await asked).to.equal(true);
      expect((await metered).isAllowed).to.equal(true);
      expect(a.isDown).to.equal(true);
      expect(await a.permits.take('s', 2)).to.equal(true);
      expect(await a.permits.take('s', 2)).to.equal(false);
      a.shared.set('k', 1);
      expect(a.shared.get('k')).to.equal(1);
      expect(await a.withLock('w', async () => 'alone')).to.equal('alone');
    });
  });
});
