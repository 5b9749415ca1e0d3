import { expect } from 'chai';
import { CoolDowns, type NewCoolDown } from '#src/engine/slots/health/cooldowns.js';

describe('CoolDowns', () => {
  const overloaded: NewCoolDown = {
    scope: 'model',
    reason: 'overloaded',
    untilMs: undefined,
    backoff: { firstMs: 5000, maxMs: 120_000 },
    checkAfterMs: 900_000,
    cause: null,
  };
  const unreachable: NewCoolDown = { ...overloaded, scope: 'slot', reason: 'unreachable' };

  it('double up to the longest, and start over after a success', () => {
    const coolDowns = new CoolDowns();
    const lengths = Array.from({ length: 7 }, () => {
      coolDowns.add(overloaded, 'm', coolDowns.mark, 0);
      return coolDowns.active('m', 0)?.untilMs;
    });
    expect(lengths).to.deep.equal([5000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
    coolDowns.succeed('m', coolDowns.mark);
    coolDowns.add(overloaded, 'm', coolDowns.mark, 0);
    expect(coolDowns.active('m', 0)?.untilMs).to.equal(5000);
  });

  it('double once for calls that fail together', () => {
    const coolDowns = new CoolDowns();
    const began = coolDowns.mark;
    const added = [1, 2, 3].map(() => coolDowns.add(overloaded, 'm', began, 0));
    expect(added).to.deep.equal([true, false, false]);
    expect(coolDowns.active('m', 0)?.untilMs).to.equal(5000);
  });

  it('begin anew where a call fails after they are over, whenever it began', () => {
    const coolDowns = new CoolDowns();
    coolDowns.add(overloaded, 'm', 0, 0);
    expect(coolDowns.add(overloaded, 'm', 0, 60_000)).to.equal(true);
    expect(coolDowns.active('m', 60_000)?.untilMs).to.equal(70_000);
  });

  it('outlast a success of a call that began before them', () => {
    const coolDowns = new CoolDowns();
    const began = coolDowns.mark;
    coolDowns.add(overloaded, 'm', began, 0);
    expect(coolDowns.succeed('m', began)).to.equal(false);
    expect(coolDowns.active('m', 0)).to.not.equal(undefined);
  });

  it('of one model leave the others alone; those of the slot hold for all', () => {
    const coolDowns = new CoolDowns();
    coolDowns.add(overloaded, 'm', 0, 0);
    expect(coolDowns.active('other', 0)).to.equal(undefined);
    expect(coolDowns.active(undefined, 0)).to.equal(undefined);
    coolDowns.add(unreachable, 'm', 1, 0);
    expect(coolDowns.active('other', 0)?.reason).to.equal('unreachable');
  });

  it('are over when their time has come, and keep their doubling', () => {
    const coolDowns = new CoolDowns();
    coolDowns.add(overloaded, 'm', 0, 0);
    expect(coolDowns.active('m', 5000)).to.equal(undefined);
    coolDowns.add(overloaded, 'm', coolDowns.mark, 5000);
    expect(coolDowns.active('m', 5000)?.untilMs).to.equal(15_000);
  });

  it('do not outlive the longest window, whatever a header says', () => {
    const coolDowns = new CoolDowns();
    coolDowns.add({ ...overloaded, untilMs: 10 ** 15 }, 'm', 0, 0);
    expect(coolDowns.active('m', 0)?.untilMs).to.equal(7 * 24 * 3_600_000);
  });

  it('stay bounded where callers make up model names', () => {
    const coolDowns = new CoolDowns();
    for (let at = 0; at < 1000; at += 1) coolDowns.add(overloaded, `model-${at}`, at, 0);
    expect(coolDowns.list(0)).to.have.length(256);
    expect(coolDowns.active('model-999', 0)).to.not.equal(undefined);
  });

  it('leave no more with the other instances than there are, also of those that are over', () => {
    const told = new Map<string, unknown>();
    const coolDowns = new CoolDowns((key, value) => {
      if (value === undefined) told.delete(key);
      else told.set(key, value);
    });
    for (let at = 0; at < 1000; at += 1) {
      coolDowns.add(overloaded, `model-${at}`, at, 0);
      coolDowns.clear();
    }
    expect(told).to.have.property('size', 256);
    expect(coolDowns.fill).to.deep.equal({ entries: 256, capacity: 512 });
  });
});
