import { expect } from 'chai';
import { SharedWork } from '#src/gateway/reload/shared-work.js';

describe('SharedWork', () => {
  function works() {
    const ends: ((fails?: Error) => void)[] = [];
    const shared = new SharedWork(
      () =>
        new Promise<number>((resolve, reject) => {
          const number = ends.length + 1;
          ends.push((fails) => (fails ? reject(fails) : resolve(number)));
        }),
    );
    return { shared, ends };
  }

  it('runs once for all who come while one is under way, after that one', async () => {
    const { shared, ends } = works();
    const first = shared.run();
    const others = [shared.run(), shared.run(), shared.run()];
    expect(ends).to.have.length(1);
    ends[0]!();
    expect(await first).to.equal(1);
    others.push(shared.run());
    while (ends.length < 2) await Promise.resolve();
    ends[1]!();
    expect(await Promise.all(others)).to.deep.equal([2, 2, 2, 2]);
    expect(ends).to.have.length(2);
  });

  it('runs anew after the last one, also after one that has failed', async () => {
    const { shared, ends } = works();
    const failing = shared.run();
    const next = shared.run();
    ends[0]!(new Error('broken'));
    expect(await failing.catch((error: unknown) => String(error))).to.include('broken');
    while (ends.length < 2) await Promise.resolve();
    ends[1]!();
    expect(await next).to.equal(2);
    const later = shared.run();
    expect(ends).to.have.length(3);
    ends[2]!();
    expect(await later).to.equal(3);
  });
});
