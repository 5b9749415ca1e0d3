import { expect } from 'chai';
import { isTooSlow, type BodyProgress } from '#src/engine/http/watch/body-watch.js';

const idleMs = 30_000;

/** A body of which so many bytes have come, the last of them at `heardAtMs`. */
function progress(bytes: number, lastActiveMs: number): BodyProgress {
  return { startedMs: 0, startBytes: 0, lastActiveMs, bytes };
}

describe('a body that is too slow', () => {
  it('is one that has been silent for the idle limit, however much has come', () => {
    expect(isTooSlow(progress(0, 0), idleMs - 1, idleMs)).to.equal(false);
    expect(isTooSlow(progress(0, 0), idleMs, idleMs)).to.equal(true);
    expect(isTooSlow(progress(1e9, 5000), 5000 + idleMs, idleMs)).to.equal(true);
  });

  it('is one that comes at less than 1 kB/s on average once the idle limit is over', () => {
    for (const seconds of [31, 100, 3600]) {
      const nowMs = seconds * 1000;
      expect(isTooSlow(progress(seconds * 1000 - 1, nowMs), nowMs, idleMs)).to.equal(true);
      expect(isTooSlow(progress(seconds * 1000, nowMs), nowMs, idleMs)).to.equal(false);
    }
  });

  it('is none that comes byte by byte, as long as the idle limit is not over', () => {
    expect(isTooSlow(progress(30, idleMs), idleMs, idleMs)).to.equal(false);
  });

  it('counts from where its connection stood', () => {
    const second = { startedMs: 0, startBytes: 1e9, lastActiveMs: 40_000, bytes: 1e9 + 39_000 };
    expect(isTooSlow(second, 40_000, idleMs)).to.equal(true);
  });
});
