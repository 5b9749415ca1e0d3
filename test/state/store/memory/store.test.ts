import { expect } from 'chai';
import type { StoredResponse } from '#src/plugin/format/index.js';
import { openStore } from '#src/state/store/index.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { quiet } from '../stores.js';

describe('the memory store', () => {
  it('is what `memory` opens', async () => {
    expect(await openStore({ kind: 'memory' }, { log: quiet })).to.be.instanceOf(MemoryStore);
  });

  it('drops the least recently used where it is full', async () => {
    const { bindings } = new MemoryStore({ now: () => 0, max: { bindings: 2 } });
    for (const key of ['s', 't']) await bindings.put(key, { slotId: 'a', expiresAtMs: 10 });
    await bindings.get('s');
    await bindings.put('u', { slotId: 'a', expiresAtMs: 10 });
    const kept = await Promise.all(['s', 't', 'u'].map((key) => bindings.get(key)));
    expect(kept.map((binding) => binding !== undefined)).to.deep.equal([true, false, true]);
  });

  it('bounds the text of all responses together, and keeps none that is larger than that', async () => {
    const { responses } = new MemoryStore({ now: () => 0, max: { responseText: 900 } });
    for (const id of ['1', '2', '3']) await responses.put(stored(id, { text: 'x'.repeat(300) }));
    const kept = await Promise.all(['1', '2', '3'].map((id) => responses.get('me', id)));
    expect(kept.map((response) => response !== undefined)).to.deep.equal([false, true, true]);
    await responses.put(stored('4', { text: 'x'.repeat(2000) }));
    expect(await responses.get('me', '4')).to.equal(undefined);
    expect(await responses.get('me', '3')).to.not.equal(undefined);
  });

  describe('with spaces of plugins', () => {
    /** A store with two spaces of a thousand keys, and how many values it looks at while `work` runs. */
    async function looksOf(work: (store: MemoryStore) => Promise<unknown>): Promise<number> {
      let looks = 0;
      const store = new MemoryStore({ now: () => (looks += 1) });
      for (let at = 0; at < 1000; at += 1)
        for (const space of ['a', 'b'])
          await store.spaces.put(space, { key: `k${String(at).padStart(4, '0')}`, text: '1' }, 1000);
      looks = 0;
      await work(store);
      return looks;
    }

    it('looks at a page of a list, and at nothing before it or in another space', async () => {
      const page = { prefix: 'k', after: 'k0500', limit: 10 };
      expect(await looksOf((store) => store.spaces.list('a', page))).to.be.within(10, 20);
    });

    it('looks at no value to refuse a key in a full space', async () => {
      const refused = async (store: MemoryStore) =>
        expect(await store.spaces.put('a', { key: 'new', text: '1' }, 1000)).to.equal(false);
      expect(await looksOf(refused)).to.be.within(0, 5);
    });

    it('lists what was dropped for want of room no more', async () => {
      const { spaces } = new MemoryStore({ now: () => 0, max: { spaceText: 1100 } });
      for (const key of ['a', 'b', 'c']) await spaces.put('s', { key, text: '1' }, 3);
      await spaces.put('s', { key: 'a', text: 'x'.repeat(2000) }, 3);
      const keys = (await spaces.list('s', { prefix: '', limit: 9 })).map(({ key }) => key);
      expect(keys).to.deep.equal(['b', 'c']);
      await spaces.put('s', { key: 'b', text: 'x'.repeat(2000) }, 3);
      const left = (await spaces.list('s', { prefix: '', limit: 9 })).map(({ key }) => key);
      expect(left).to.deep.equal(['c']);
      expect(await spaces.put('s', { key: 'd', text: '1' }, 2)).to.equal(true);
    });
  });

  it('stays usable after it was closed: there is nothing to close', async () => {
    const store = new MemoryStore();
    await store.close();
    expect(await store.keys.findByHash('h')).to.equal(undefined);
  });
});

function stored(id: string, response: Readonly<Record<string, unknown>>): StoredResponse {
  return { id, owner: 'me', input: [], response, expiresAtMs: 10 };
}
