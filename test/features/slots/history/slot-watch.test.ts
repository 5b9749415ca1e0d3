import { expect } from 'chai';
import { fakeHost, ManualClock } from '@gw2api/gateway/testing';
import type { SlotHistory } from '#src/state/store/contract/slot-history.js';
import type { SlotStatus } from '#src/plugin/contract/slot/slot.js';
import { SlotWatch } from '#src/features/slots/history/slot-watch.js';
import { MemorySlotHistory } from '#src/state/store/memory/slot-history.js';

const minuteMs = 60_000;

describe('the watch over slots', () => {
  const startMs = Date.UTC(2026, 0, 1);
  let clock: ManualClock;
  let store: MemorySlotHistory;
  let slots: SlotStatus[];
  const open = (history: SlotHistory = store, host = fakeHost()) => {
    const watch = new SlotWatch({ store: history, log: host.log, clock });
    watch.start(() => slots);
    return { watch, host };
  };
  beforeEach(() => {
    clock = new ManualClock();
    store = new MemorySlotHistory(10);
    slots = [status('a')];
  });

  it('writes each change once, with its cause and the time of it', async () => {
    const { watch } = open();
    clock.pass(250);
    const atMs = clock.now() + 10;
    clock.pass(20);
    const cause = { status: 529, code: 'overloaded', message: 'Busy.', header: null, atMs };
    slots = [status('a', { state: 'cooling', reason: 'overloaded', untilMs: atMs + 5000, cause })];
    watch.changed();
    watch.changed();
    clock.pass(250);
    slots = [status('a')];
    watch.changed();
    clock.pass(250);
    expect((await watch.changes('a', 10)).map(({ atMs: at, ...rest }) => [at - startMs, rest])).to.deep.equal(
      [
        [770, { slot: 'a', state: 'ready', models: [] }],
        [
          260,
          {
            slot: 'a',
            state: 'cooling',
            reason: 'overloaded',
            untilMs: atMs + 5000,
            models: [],
            status: 529,
            code: 'overloaded',
          },
        ],
        [250, { slot: 'a', state: 'ready', models: [] }],
      ],
    );
    await watch.close();
    expect(clock.timers).to.equal(0);
  });

  it('shows a state as it is when it is asked', async () => {
    const { watch } = open();
    slots = [status('a', { state: 'paused' })];
    expect((await watch.changes('a', 10)).map(({ state }) => state)).to.deep.equal(['paused']);
    await watch.close();
  });

  it('tells models that cool down on their own', async () => {
    const { watch } = open();
    const model = (name: string) => ({
      model: name,
      reason: 'rate_limited' as const,
      untilMs: 1,
      checkAtMs: 1,
      cause: null,
    });
    slots = [status('a', { models: [model('y'), model('x')] })];
    expect((await watch.changes('a', 10))[0]).to.deep.include({ state: 'ready', models: ['x', 'y'] });
    await watch.close();
  });

  it('samples a window once in each step, and not after its reset', async () => {
    const resetsAtMs = startMs + 7 * minuteMs;
    slots = [status('a', { windows: { '5h': { percentUsed: 12, resetsAtMs }, '7d': null } })];
    const watches = [open().watch, open().watch];
    clock.pass(20 * minuteMs);
    for (const watch of watches) await watch.changes('a', 1);
    const samples = await store.samples(0);
    expect(samples.map(({ atMs }) => (atMs - startMs) / minuteMs)).to.deep.equal([2, 4, 6]);
    expect(samples[0]).to.deep.include({ slot: 'a', window: '5h', percentUsed: 12, resetsAtMs });
    for (const watch of watches) await watch.close();
  });

  it('keeps what a store does not take, says so once, and writes it later', async () => {
    let isGone = true;
    const append: SlotHistory['append'] = async (changes) => {
      if (isGone) throw new Error('gone');
      await store.append(changes);
    };
    const away: SlotHistory = {
      append,
      changes: (slot, limit) => store.changes(slot, limit),
      sample: (samples) => store.sample(samples),
      samples: (fromMs) => store.samples(fromMs),
      prune: async () => ({ isDone: true }),
    };
    const { watch, host } = open(away);
    await watch.changes('a', 1);
    slots = [status('a', { state: 'draining' })];
    await watch.changes('a', 1);
    expect(host.logged.map(({ level }) => level)).to.deep.equal(['warn']);
    isGone = false;
    expect((await watch.changes('a', 9)).map(({ state }) => state)).to.deep.equal(['draining', 'ready']);
    await watch.close();
  });
});

function status(id: string, fields: Partial<SlotStatus> = {}): SlotStatus {
  return {
    id,
    upstream: 'messages',
    accountKind: 'none',
    state: 'ready',
    reason: null,
    untilMs: null,
    checkAtMs: null,
    cause: null,
    models: [],
    inFlight: 0,
    queued: 0,
    maxConcurrent: 1,
    weight: 1,
    serves: ['*'],
    upstreamModels: {},
    bindings: 0,
    windows: { '5h': null, '7d': null },
    lastError: null,
    lastErrorAtMs: null,
    ...fields,
  };
}
