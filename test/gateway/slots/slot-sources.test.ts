import { expect } from 'chai';
import type { Logger } from '#src/plugin/index.js';
import type { StoredSlot } from '#src/state/store/contract/store.js';
import { defineUpstream } from '@gw2api/gateway/plugin/upstream';
import type { SlotConfig } from '#src/config/config.js';
import type { ConsoleTerms } from '#src/gateway/slots/console-slots.js';
import { SlotSources } from '#src/gateway/slots/slot-sources.js';
import { fakePlugins, openPool, silent, slotConfig } from '../../engine/slots/kit.js';

/** Opens no upstream whose slot has a name that begins with "bad". */
const picky = defineUpstream({
  name: 'picky',
  open(_options, { slot: { id } }) {
    if (id.startsWith('bad')) throw new Error(`there is no way to ${id}`);
    return { generate: () => Promise.reject(new Error('It is not called.')) };
  },
});

function stored(id: string, fields: Partial<StoredSlot> = {}): StoredSlot {
  return {
    id,
    settings: { upstream: 'simulator' },
    account: { kind: 'none' },
    createdAtMs: 1,
    updatedAtMs: 1,
    ...fields,
  };
}

describe('the slots of the config file and of the console', () => {
  const configured = [slotConfig('a', { upstream: 'simulator' })];

  async function open(slots: readonly StoredSlot[]) {
    const errors: object[] = [];
    const log: Logger = { ...silent, error: (fields) => void errors.push(fields) };
    const plugins = fakePlugins(picky);
    const { pool, store } = await openPool(configured, { plugins });
    for (const slot of slots) await store.slots.put(slot);
    const sources = new SlotSources(pool, { store, log, loaderOf: () => plugins });
    await sources.take(configOf(configured));
    const states = () => pool.list().map(({ id, state }) => `${id} ${state}`);
    const problems = () => sources.console.map(({ stored: { id }, problem }) => [id, problem]);
    return { pool, store, sources, errors, states, problems };
  }

  it('serve together, those of the file first', async () => {
    const { states, problems } = await open([stored('c'), stored('b')]);
    expect(states()).to.deep.equal(['a ready', 'b ready', 'c ready']);
    expect(problems()).to.deep.equal([
      ['b', undefined],
      ['c', undefined],
    ]);
  });

  it('serve without those that cannot be opened, read or checked, which say why', async () => {
    const slots = [
      stored('b'),
      stored('bad-1'),
      stored('c', { settings: { upstream: 'gone' } }),
      stored('d', { problem: 'It is sealed.' }),
      stored('e'),
    ];
    const { states, problems, errors } = await open(slots);
    expect(states()).to.deep.equal(['a ready', 'b ready', 'e ready']);
    const told = new Map(problems() as [string, string][]);
    expect(told.get('bad-1')).to.equal('Its upstream cannot be opened: there is no way to bad-1');
    expect(told.get('c')).to.include('upstream: "gone" is not built in');
    expect(told.get('d')).to.equal('It is sealed.');
    expect(errors).to.have.length(3);
  });

  it('keep their states when one is added that cannot be opened', async () => {
    const { pool, store, sources, states } = await open([stored('b'), stored('bad-1')]);
    pool.pause('b');
    await store.slots.put(stored('bad-2'));
    await store.slots.put(stored('c'));
    await sources.take(configOf(configured));
    expect(states()).to.deep.equal(['a ready', 'b paused', 'c ready']);
  });

  it('are those that were known, where the store cannot be read', async () => {
    const { store, sources, states, errors } = await open([stored('b')]);
    store.slots.list = () => Promise.reject(new Error('it is gone'));
    await sources.take(configOf(configured));
    expect(states()).to.deep.equal(['a ready', 'b ready']);
    expect(errors).to.have.length(1);
  });

  it('are refused as a whole where one of the file cannot be opened, and stay as they were', async () => {
    const { sources, states } = await open([stored('b')]);
    const bad = [...configured, slotConfig('bad', { upstream: 'simulator' })];
    const error = await sources.take(configOf(bad)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect(states()).to.deep.equal(['a ready', 'b ready']);
  });
});

function configOf(slots: readonly SlotConfig[]): ConsoleTerms {
  return { slots, console: { allowLinkLocal: false }, baseDir: '.' };
}
