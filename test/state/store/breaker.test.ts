import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { Breaker } from '#src/state/store/outage/breaker.js';
import { eventually } from '../../eventually.js';

describe('the circuit breaker of a store', () => {
  let breaker: Breaker;
  beforeEach(() => {
    const { log } = fakeHost();
    const ignore = (): void => undefined;
    const probe = () => new Promise<never>(ignore);
    breaker = new Breaker({
      name: 'it',
      probe,
      isUnavailable: () => true,
      takePlace: () => ignore,
      onOpen: ignore,
      onClose: ignore,
      log,
    });
  });
  afterEach(() => breaker.close());

  it('stays closed where the event loop is held up while the store answers', async () => {
    const answer = async () => {
      for (let turn = 0; turn < 8; turn += 1) await nextTurn().then(holdUp);
      return 'answer';
    };
    expect(await breaker.run(answer, 100)).to.equal('answer');
    expect(breaker.isDown).to.equal(false);
  });

  it('opens where no answer comes though the loop turns', async () => {
    const failure = await breaker
      .run(() => new Promise(() => undefined), 20)
      .catch((error: Error) => error.message);
    expect(failure).to.equal('it has not answered within 20 ms');
    await eventually(() => breaker.isDown);
  });
});

/** Takes the loop for 60 ms, as other work of the process. */
function holdUp(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
}
