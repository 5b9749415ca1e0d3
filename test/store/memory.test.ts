import { expect } from 'chai';
import type { StoredResponse } from 'gw2api/plugin';
import { openStore } from '#src/store/index.js';
import { MemoryStore } from '#src/store/memory.js';

describe('the memory store', () => {
  it('is what `memory` opens', async () => {
    expect(await openStore({ store: 'memory' })).to.be.instanceOf(MemoryStore);
  });

  it('finds a key by its hash, and no longer by an old one', async () => {
    const { keys } = new MemoryStore();
    await keys.put({ id: 'k', name: 'K', hash: 'old' });
    await keys.put({ id: 'k', name: 'K', hash: 'new', revoked: true });
    expect(await keys.findByHash('old')).to.equal(undefined);
    expect(await keys.findByHash('new')).to.include({ id: 'k', revoked: true });
    expect(await keys.findByHash('')).to.equal(undefined);
  });

  it('keeps the tokens of a slot', async () => {
    const { credentials } = new MemoryStore();
    const tokens = { accessToken: 'a', refreshToken: 'r', origin: 'o' };
    await credentials.put('slot', tokens);
    expect(await credentials.get('slot')).to.deep.equal(tokens);
    expect(await credentials.get('other')).to.equal(undefined);
  });

  it('forgets a binding that has expired or was deleted', async () => {
    let nowMs = 0;
    const { bindings } = new MemoryStore({ now: () => nowMs });
    await bindings.put('s', { slotId: 'a', expiresAtMs: 10 });
    await bindings.put('t', { slotId: 'a', expiresAtMs: 10 });
    await bindings.delete('t');
    expect(await bindings.get('s')).to.include({ slotId: 'a' });
    expect(await bindings.get('t')).to.equal(undefined);
    nowMs = 10;
    expect(await bindings.get('s')).to.equal(undefined);
  });

  it('shows a stored response to its owner only, as it was stored', async () => {
    const { responses } = new MemoryStore({ now: () => 0 });
    const response = { id: 'resp_1', output: [{ type: 'message' }] };
    await responses.put(stored('resp_1', response));
    response.output.pop();
    expect((await responses.get('me', 'resp_1'))?.response['output']).to.deep.equal([{ type: 'message' }]);
    expect(await responses.get('you', 'resp_1')).to.equal(undefined);
    expect(await responses.delete('you', 'resp_1')).to.equal(false);
    expect(await responses.delete('me', 'resp_1')).to.equal(true);
    expect(await responses.delete('me', 'resp_1')).to.equal(false);
  });

  it('drops the least recently used where it is full', async () => {
    const { bindings } = new MemoryStore({ now: () => 0, most: { bindings: 2 } });
    for (const key of ['s', 't']) await bindings.put(key, { slotId: 'a', expiresAtMs: 10 });
    await bindings.get('s');
    await bindings.put('u', { slotId: 'a', expiresAtMs: 10 });
    const kept = await Promise.all(['s', 't', 'u'].map((key) => bindings.get(key)));
    expect(kept.map((binding) => binding !== undefined)).to.deep.equal([true, false, true]);
  });

  it('bounds the text of all responses together, and keeps none that is larger than that', async () => {
    const { responses } = new MemoryStore({ now: () => 0, most: { responseText: 1000 } });
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
