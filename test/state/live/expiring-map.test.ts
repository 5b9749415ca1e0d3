import { expect } from 'chai';
import { ExpiringMap } from '#src/state/live/expiring-map.js';

describe('a map of what expires', () => {
  let nowMs = 0;
  const fresh = (max: number) => new ExpiringMap<{ expiresAtMs: number; at?: number }>(() => nowMs, max);
  beforeEach(() => (nowMs = 0));

  it('gives nothing that has expired, in whatever way it is asked', () => {
    const map = fresh(10);
    map.set('short', { expiresAtMs: 5 });
    map.set('long', { expiresAtMs: 50 });
    nowMs = 5;
    expect(map.unexpired('short')).to.equal(undefined);
    expect([...map.entries()].map(([key]) => key)).to.deep.equal(['long']);
  });

  it('lets go of what has expired before it grows beyond a thousand', () => {
    const map = fresh(100_000);
    for (let at = 0; at < 1000; at += 1) map.set(`old ${at}`, { expiresAtMs: 1 });
    nowMs = 2;
    map.set('new', { expiresAtMs: 3 });
    expect(map.fill).to.deep.equal({ entries: 1, capacity: 100_000 });
  });

  it('never has more than it may, and lets go first of what was entered first', () => {
    const map = fresh(100);
    for (let at = 0; at < 1000; at += 1) {
      map.set(`key ${at}`, { expiresAtMs: Infinity, at });
      expect(map.fill.entries).to.be.at.most(100);
    }
    expect(map.get('key 999')).to.include({ at: 999 });
    expect(map.get('key 899')).to.equal(undefined);
    expect(map.fill.entries).to.be.at.least(90);
  });

  it('keeps what is renewed, however much else is entered', () => {
    const map = fresh(100);
    for (let at = 0; at < 1000; at += 1) {
      map.set(`key ${at}`, { expiresAtMs: Infinity });
      map.set('renewed', { expiresAtMs: Infinity, at });
    }
    expect(map.get('renewed')).to.include({ at: 999 });
  });

  it('makes no room for what it has already', () => {
    const map = fresh(3);
    for (const key of ['a', 'b', 'c', 'c', 'a']) map.set(key, { expiresAtMs: Infinity });
    expect(map.fill.entries).to.equal(3);
  });
});
