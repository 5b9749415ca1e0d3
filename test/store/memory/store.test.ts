import { expect } from 'chai';
import type { StoredResponse } from '#src/plugin/internal.js';
import { openStore } from '#src/store/index.js';
import { MemoryStore } from '#src/store/memory/store.js';
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

  it('stays usable after it was closed: there is nothing to close', async () => {
    const store = new MemoryStore();
    await store.close();
    expect(await store.keys.findByHash('h')).to.equal(undefined);
  });
});

function stored(id: string, response: Readonly<Record<string, unknown>>): StoredResponse {
  return { id, owner: 'me', input: [], response, expiresAtMs: 10 };
}
