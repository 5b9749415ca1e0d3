import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { every, limited, sleep } from '#src/kit/time/clock.js';
import { systemClock, timeoutSignal } from '#src/plugin/index.js';

describe('the clock of the machine', () => {
  it('runs a timer once, and none that was cancelled', async () => {
    const fired: string[] = [];
    systemClock.setTimer(() => fired.push('cancelled'), 1)();
    await new Promise<void>((resolve) => void systemClock.setTimer(resolve, 2));
    expect(fired).to.deep.equal([]);
  });

  it('does not fire at once where the delay is above the max of timers', async () => {
    const fired: string[] = [];
    const cancels = [2 ** 31, Infinity].map((ms) => systemClock.setTimer(() => fired.push('early'), ms));
    await new Promise<void>((resolve) => void systemClock.setTimer(resolve, 5));
    for (const cancel of cancels) cancel();
    expect(fired).to.deep.equal([]);
  });
});

describe('a manual clock', () => {
  it('stands until it is moved, and runs its timers on the way in order', () => {
    const clock = new ManualClock(1000);
    const fired: (readonly [name: string, nowMs: number, monotonicMs: number])[] = [];
    const note = (name: string) => () => void fired.push([name, clock.now(), clock.monotonicMs()]);
    clock.setTimer(note('second'), 20);
    clock.setTimer(() => {
      note('first')();
      clock.setTimer(note('set on the way'), 5);
    }, 10);
    clock.setTimer(note('cancelled'), 10)();
    clock.setTimer(note('later'), 31);
    clock.pass(30);
    expect(fired).to.deep.equal([
      ['first', 1010, 10],
      ['set on the way', 1015, 15],
      ['second', 1020, 20],
    ]);
    expect([clock.now(), clock.timers]).to.deep.equal([1030, 1]);
  });

  it('repeats a callback until that is ended, also by itself', () => {
    const clock = new ManualClock();
    let count = 0;
    const end = every(clock, 10, () => {
      count += 1;
      if (count === 3) end();
    });
    clock.pass(1000);
    expect([count, clock.timers]).to.deep.equal([3, 0]);
  });

  it('lets a sleep end at its time, or with the signal', async () => {
    const clock = new ManualClock();
    const asleep = sleep(clock, 10);
    clock.pass(10);
    await asleep;
    const controller = new AbortController();
    const disturbed = sleep(clock, 10, controller.signal);
    controller.abort();
    await disturbed;
    await sleep(clock, 10, controller.signal);
    expect(clock.timers).to.equal(0);
  });

  it('aborts a signal at its time limit, with the error of AbortSignal.timeout', () => {
    const clock = new ManualClock();
    const signal = timeoutSignal(clock, 10);
    clock.pass(9);
    expect(signal.aborted).to.equal(false);
    clock.pass(1);
    expect(signal.reason).to.be.an.instanceOf(DOMException).with.property('name', 'TimeoutError');
  });

  it('ends limited work at its time, or where its caller goes', async () => {
    const clock = new ManualClock();
    const caller = new AbortController();
    const ended = (signal: AbortSignal) =>
      new Promise<unknown>((resolve) => {
        if (signal.aborted) resolve(signal.reason);
        signal.addEventListener('abort', () => resolve(signal.reason));
      });
    const late = limited(clock, { until: caller.signal, ms: 10 }, ended);
    clock.pass(10);
    expect(await late).to.have.property('name', 'TimeoutError');
    const left = limited(clock, { until: caller.signal, ms: 10 }, ended);
    caller.abort('gone');
    expect(await left).to.equal('gone');
    expect(await limited(clock, { until: caller.signal, ms: 10 }, ended)).to.equal('gone');
  });

  it('leaves nothing with a caller that lives on after limited work', async () => {
    const clock = new ManualClock();
    const { signal: until } = new AbortController();
    expect(await limited(clock, { until, ms: 10 }, async () => 'done')).to.equal('done');
    const failed = limited(clock, { until, ms: 10 }, async () => Promise.reject(new Error('failed')));
    await failed.catch(() => undefined);
    expect(getEventListeners(until, 'abort')).to.deep.equal([]);
    expect(clock.timers).to.equal(0);
  });
});
