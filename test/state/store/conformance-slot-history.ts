import { expect } from 'chai';
import type { SlotChange, WindowSample } from '#src/state/store/contract/slot-history.js';
import type { WholeStore } from '#src/state/store/contract/store.js';

/** The history of slots of every store. */
export function describeSlotHistory(storeNow: () => WholeStore): void {
  describe('its history of slots', () => {
    it('keeps changes whole, by slot, newest first', async () => {
      const { slotHistory } = storeNow();
      const full = change('a', 2 ** 42, {
        state: 'cooling',
        reason: 'rate_limited',
        untilMs: 2 ** 42 + 5000,
        models: ['über', 'x'],
        status: 429,
        code: 'upstream_error',
      });
      await slotHistory.append([change('a', 5), change('b', 6), full]);
      await slotHistory.append([]);
      expect(await slotHistory.changes('a', 10)).to.deep.equal([full, change('a', 5)]);
      expect(await slotHistory.changes('a', 1)).to.deep.equal([full]);
      expect(await slotHistory.changes('b', 10)).to.deep.equal([change('b', 6)]);
      expect(await slotHistory.changes('c', 10)).to.deep.equal([]);
    });

    it('leaves out what the last change says already, and what is older', async () => {
      const { slotHistory } = storeNow();
      const paused = { state: 'paused' } as const;
      await slotHistory.append([change('a', 5, paused)]);
      await slotHistory.append([change('a', 6, { ...paused, code: 'again' }), change('a', 7)]);
      await slotHistory.append([change('a', 3, { state: 'draining' }), change('a', 8, { models: ['x'] })]);
      const kept = [change('a', 8, { models: ['x'] }), change('a', 7), change('a', 5, paused)];
      expect(await slotHistory.changes('a', 10)).to.deep.equal(kept);
    });

    it('keeps the latest 500 changes of a slot', async () => {
      const { slotHistory } = storeNow();
      const states = ['ready', 'paused'] as const;
      const many = Array.from({ length: 520 }, (_, at) => change('a', at + 1, { state: states[at % 2]! }));
      await slotHistory.append(many);
      await slotHistory.append([change('b', 1)]);
      const kept = await slotHistory.changes('a', 1000);
      expect([kept.length, kept[0]?.atMs, kept.at(-1)?.atMs]).to.deep.equal([500, 520, 21]);
    });

    it('takes all that has changed during a long outage', async () => {
      const { slotHistory } = storeNow();
      const states = ['ready', 'paused'] as const;
      const many = Array.from({ length: 4000 }, (_, at) =>
        change(`s${at % 10}`, at + 1, { state: states[Math.floor(at / 10) % 2]! }),
      );
      await slotHistory.append([...many, ...many]);
      for (const slot of ['s0', 's9']) {
        const kept = await slotHistory.changes(slot, 1000);
        expect(kept).to.deep.equal(many.filter((each) => each.slot === slot).toReversed());
      }
    });

    it('keeps one sample of a slot, window and time', async () => {
      const { slotHistory } = storeNow();
      await slotHistory.sample([sample('a', 20), sample('b', 10), sample('a', 20, { window: '7d' })]);
      await slotHistory.sample([
        sample('a', 20, { percentUsed: 99 }),
        sample('a', 30, { percentUsed: 12.34 }),
      ]);
      await slotHistory.sample([]);
      const samples = (await slotHistory.samples(11)).toSorted((a, b) => (a.window < b.window ? -1 : 1));
      expect(samples).to.deep.equal([
        sample('a', 20),
        sample('a', 30, { percentUsed: 12.34 }),
        sample('a', 20, { window: '7d' }),
      ]);
    });

    it('deletes the oldest of both in steps', async () => {
      const { slotHistory } = storeNow();
      const states = ['ready', 'paused'] as const;
      await slotHistory.append([1, 2, 3, 4].map((at) => change('a', at, { state: states[at % 2]! })));
      await slotHistory.sample([sample('a', 1), sample('a', 4)]);
      expect(await slotHistory.prune(4, 2)).to.deep.equal({ isDone: false });
      expect(await slotHistory.prune(4, 2)).to.deep.equal({ isDone: true });
      expect(await slotHistory.prune(4, 2)).to.deep.equal({ isDone: true });
      expect((await slotHistory.changes('a', 9)).map(({ atMs }) => atMs)).to.deep.equal([4]);
      expect(await slotHistory.samples(0)).to.deep.equal([sample('a', 4)]);
    });
  });
}

function change(slot: string, atMs: number, fields: Partial<SlotChange> = {}): SlotChange {
  return { slot, atMs, state: 'ready', models: [], ...fields };
}

function sample(slot: string, atMs: number, fields: Partial<WindowSample> = {}): WindowSample {
  return { slot, window: '5h', atMs, percentUsed: 50, resetsAtMs: 2 ** 42, ...fields };
}
