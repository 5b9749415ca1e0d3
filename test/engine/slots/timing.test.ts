import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import type { Clock } from '#src/plugin/index.js';
import { Throttle } from '#src/engine/slots/timing.js';

describe('a throttle', () => {
  /** A throttle of one second, the number of its actions, and a clock whose time of day can be set. */
  function open() {
    const manual = new ManualClock();
    let aheadMs = 0;
    const clock: Clock = {
      now: () => manual.now() + aheadMs,
      monotonicMs: manual.monotonicMs,
      setTimer: manual.setTimer,
    };
    let acted = 0;
    const throttle = new Throttle({ clock, everyMs: 1000 }, () => (acted += 1));
    return { throttle, manual, acted: () => acted, step: (ms: number) => (aheadMs += ms) };
  }

  it('acts at once, then once per interval', () => {
    const { throttle, manual, acted } = open();
    for (let asked = 0; asked < 3; asked += 1) throttle.ask();
    expect(acted()).to.equal(1);
    manual.pass(999);
    expect(acted()).to.equal(1);
    manual.pass(1);
    expect(acted()).to.equal(2);
    manual.pass(5000);
    expect(acted()).to.equal(2);
  });

  for (const [where, ms] of [
    ['back', -3_600_000],
    ['ahead', 3_600_000],
  ] as const)
    it(`keeps its interval where the time of day steps ${where} an hour`, () => {
      const { throttle, manual, acted, step } = open();
      throttle.ask();
      step(ms);
      manual.pass(400);
      throttle.ask();
      expect(acted()).to.equal(1);
      manual.pass(600);
      expect(acted()).to.equal(2);
    });
});
