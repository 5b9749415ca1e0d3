import { expect } from 'chai';
import { fakeHost, MemoryStore } from '@gw2api/gateway/testing';
import { pluginStorage } from '#src/engine/pipeline/stage/plugin-storage.js';
import type { Json } from '#src/plugin/index.js';

describe("a plugin's storage", () => {
  it('keeps JSON, and hands out copies', async () => {
    const { storage } = fakeHost();
    const value = { list: [1, null, 'é'] };
    await storage.set('k', value);
    value.list.push(2);
    expect(await storage.get('k')).to.deep.equal({ list: [1, null, 'é'] });
    expect(await storage.list()).to.deep.equal([{ key: 'k', value: { list: [1, null, 'é'] } }]);
    expect(await storage.delete('k')).to.equal(true);
    expect(await storage.get('k')).to.equal(undefined);
  });

  it('forgets at the end of a lifetime', async () => {
    let nowMs = 1000;
    const storage = pluginStorage(new MemoryStore({ now: () => nowMs }).spaces, 'p', () => nowMs);
    await storage.set('k', 'v', { ttlMs: 500 });
    nowMs = 1499;
    expect(await storage.get('k')).to.equal('v');
    nowMs = 1500;
    expect(await storage.get('k')).to.equal(undefined);
  });

  it('lists a page of at most a thousand', async () => {
    const { storage } = fakeHost();
    for (let at = 0; at < 1100; at += 1) await storage.set(`k${at}`, at);
    expect(await storage.list()).to.have.length(100);
    expect(await storage.list('k', { limit: 5000 })).to.have.length(1000);
    expect(await storage.list('k10', { after: 'k1001', limit: 2 })).to.deep.equal([
      { key: 'k1002', value: 1002 },
      { key: 'k1003', value: 1003 },
    ]);
  });

  it('is bounded in its keys', async () => {
    const { storage } = fakeHost();
    for (let at = 0; at < 10_000; at += 1) await storage.set(`k${at}`, at);
    await storage.set('k0', 'new');
    const refused = await storage.set('one more', 1).catch((error: Error) => error);
    expect(refused)
      .to.be.instanceOf(RangeError)
      .with.property('message')
      .that.includes('already has 10000 keys');
  });

  for (const [what, key, value, ttlMs, message] of [
    ['an empty key', '', 1, undefined, 'A storage key must have 1 to 200'],
    ['a long key', 'x'.repeat(201), 1, undefined, 'A storage key'],
    ['a control character in a key', 'a\0b', 1, undefined, 'A storage key'],
    ['half a character in a key', 'a\ud800', 1, undefined, 'A storage key'],
    ['no JSON', 'k', undefined, undefined, 'must be JSON'],
    ['a long value', 'k', 'x'.repeat(65_535), undefined, 'at most 65536'],
    ['no lifetime', 'k', 1, 0, 'above 0 ms'],
    ['an endless lifetime', 'k', 1, Infinity, 'at most ten years'],
    ['what is no time', 'k', 1, NaN, 'above 0 ms'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { storage } = fakeHost();
      const options = ttlMs === undefined ? {} : { ttlMs };
      const refused = await storage.set(key, value as Json, options).catch((error: Error) => error);
      expect(refused).to.be.instanceOf(RangeError).with.property('message').that.includes(message);
      expect(await storage.list()).to.deep.equal([]);
    });
});
