import { expect } from 'chai';
import { Cooldowns, type NewCooldown } from '#src/engine/slots/health/cooldowns.js';

describe('Cooldowns', () => {
  const overloaded: NewCooldown = {
    scope: 'model',
    reason: 'overloaded',
    untilMs: undefined,
    backoff: { firstMs: 5000, maxMs: 120_000 },
    checkAfterMs: 900_000,
    cause: null,
  };
  const unreachable: NewCooldown = { ...overloaded, scope: 'slot', reason: 'unreachable' };

  it('double up to the longest, and start over after a success', () => {
    const cooldowns = new Cooldowns();
    const lengths = Array.from({ length: 7 }, () => {
      cooldowns.add(overloaded, 'm', cooldowns.mark, 0);
      return cooldowns.active('m', 0)?.untilMs;
    });
    expect(lengths).to.deep.equal([5000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
    cooldowns.succeed('m', cooldowns.mark);
    cooldowns.add(overloaded, 'm', cooldowns.mark, 0);
    expect(cooldowns.active('m', 0)?.untilMs).to.equal(5000);
  });

  it('double once for calls that fail together', () => {
    const cooldowns = new Cooldowns();
    const began = cooldowns.mark;
    const added = [1, 2, 3].map(() => cooldowns.add(overloaded, 'm', began, 0));
    expect(added).to.deep.equal([true, false, false]);
    expect(cooldowns.active('m', 0)?.untilMs).to.equal(5000);
  });

  it('begin anew where a call fails after they are over, whenever it began', () => {
    const cooldowns = new Cooldowns();
    cooldowns.add(overloaded, 'm', 0, 0);
    expect(cooldowns.add(overloaded, 'm', 0, 60_000)).to.equal(true);
    expect(cooldowns.active('m', 60_000)?.untilMs).to.equal(70_000);
  });

  it('outlast a success of a call that began before them', () => {
    const cooldowns = new Cooldowns();
    const began = cooldowns.mark;
    cooldowns.add(overloaded, 'm', began, 0);
    expect(cooldowns.succeed('m', began)).to.equal(false);
    expect(cooldowns.active('m', 0)).to.not.equal(undefined);
  });

  it('of one model leave the others alone; those of the slot hold for all', () => {
    const cooldowns = new Cooldowns();
    cooldowns.add(overloaded, 'm', 0, 0);
    expect(cooldowns.active('other', 0)).to.equal(undefined);
    expect(cooldowns.active(undefined, 0)).to.equal(undefined);
    cooldowns.add(unreachable, 'm', 1, 0);
    expect(cooldowns.active('other', 0)?.reason).to.equal('unreachable');
  });

  it('are over when their time has come, and keep their doubling', () => {
    const cooldowns = new Cooldowns();
    cooldowns.add(overloaded, 'm', 0, 0);
    expect(cooldowns.active('m', 5000)).to.equal(undefined);
    cooldowns.add(overloaded, 'm', cooldowns.mark, 5000);
    expect(cooldowns.active('m', 5000)?.untilMs).to.equal(15_000);
  });

  it('do not outlive the longest window, whatever a header says', () => {
    const cooldowns = new Cooldowns();
    cooldowns.add({ ...overloaded, untilMs: 10 ** 15 }, 'm', 0, 0);
    expect(cooldowns.active('m', 0)?.untilMs).to.equal(7 * 24 * 3_600_000);
  });

  it('stay bounded where callers make up model names', () => {
    const cooldowns = new Cooldowns();
    for (let at = 0; at < 1000; at += 1) cooldowns.add(overloaded, `model-${at}`, at, 0);
    expect(cooldowns.list(0)).to.have.length(256);
    expect(cooldowns.active('model-999', 0)).to.not.equal(undefined);
  });

  it('leave no more with the other instances than there are, also of those that are over', () => {
    const told = new Map<string, unknown>();
    const cooldowns = new Cooldowns((key, value) => {
      if (value === undefined) told.delete(key);
      else told.set(key, value);
    });
    for (let at = 0; at < 1000; at += 1) {
      cooldowns.add(overloaded, `model-${at}`, at, 0);
      cooldowns.clear();
    }
    expect(told).to.have.property('size', 256);
    expect(cooldowns.fill).to.deep.equal({ entries: 256, capacity: 512 });
  });
});
