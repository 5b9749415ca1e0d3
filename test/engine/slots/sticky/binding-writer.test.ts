import { expect } from 'chai';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { BindingWriter } from '#src/engine/slots/sticky/binding-writer.js';
import { quiet } from '../../../state/store/stores.js';

describe('the writer of bindings', () => {
  it('writes many sessions at a time, and each session one after the other', async () => {
    const { bindings } = new MemoryStore({ now: Date.now });
    const underWay = new Set<string>();
    let max = 0;
    const put: typeof bindings.put = async (key, binding) => {
      expect(underWay.has(key), key).to.equal(false);
      underWay.add(key);
      max = Math.max(max, underWay.size);
      await new Promise((resolve) => setImmediate(resolve));
      await bindings.put(key, binding);
      underWay.delete(key);
    };
    const store = { ...bindings, put };
    const writer = new BindingWriter({ store, log: quiet, now: Date.now, capacity: 1000 });
    const expiresAtMs = Date.now() + 60_000;
    for (const slotId of ['a', 'b'])
      for (let at = 0; at < 200; at += 1) writer.write(`s${at}`, { slotId, expiresAtMs });
    await new Promise((resolve) => setImmediate(resolve));
    for (let at = 0; at < 200; at += 1) writer.write(`s${at}`, { slotId: 'c', expiresAtMs });
    await writer.flush();
    expect(max).to.be.greaterThan(1);
    for (let at = 0; at < 200; at += 1) expect((await bindings.get(`s${at}`))?.slotId).to.equal('c');
  });
});
