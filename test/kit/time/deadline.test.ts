import { expect } from 'chai';
import { Deadline } from '#src/kit/time/deadline.js';
import { later } from '../../engine/transport/upstream-kit.js';
import { ManualClock } from '@gw2api/gateway/testing';

describe('Deadline', () => {
  it('runs out after its limit, put off by what is heard', async () => {
    const { promise: expired, resolve } = later();
    const deadline = new Deadline(resolve, () => false);
    const startedAtMs = performance.now();
    deadline.start(30);
    setTimeout(() => deadline.extend(), 20);
    await expired;
    expect(performance.now() - startedAtMs).to.be.at.least(49);
  });

  it('takes its time and its timer from the clock that it is given', () => {
    const clock = new ManualClock();
    let expired = 0;
    const deadline = new Deadline(
      () => (expired += 1),
      () => false,
      clock,
    );
    deadline.start(30);
    clock.pass(20);
    deadline.extend();
    clock.pass(29);
    expect(expired).to.equal(0);
    clock.pass(1);
    expect([expired, clock.timers]).to.deep.equal([1, 0]);
    deadline.start(30);
    deadline.stop();
    expect(clock.timers).to.equal(0);
  });

  it('does not run out while it is suspended', async () => {
    const { promise: expired, resolve } = later();
    let checks = 0;
    const deadline = new Deadline(resolve, () => (checks += 1) < 4);
    deadline.start(5);
    await expired;
    expect(checks).to.equal(4);
  });

  it('starts over with another limit, and stops', async () => {
    const { promise: expired, resolve } = later<string>();
    const deadline = new Deadline(
      () => resolve('first'),
      () => false,
    );
    const other = new Deadline(
      () => resolve('other'),
      () => false,
    );
    deadline.start(5);
    deadline.start(1000);
    other.start(10);
    expect(await expired).to.equal('other');
    expect(deadline.limitMs).to.equal(1000);
    deadline.stop();
  });

  it('ends with a shorter limit as soon as that is over, also after a stop', async () => {
    const { promise: expired, resolve } = later();
    const deadline = new Deadline(resolve, () => false);
    deadline.start(10_000);
    deadline.stop();
    deadline.start(20_000);
    deadline.start(5);
    await expired;
  });
});
