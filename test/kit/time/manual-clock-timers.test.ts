import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { gzip } from 'node:zlib';
import { randomBytes, webcrypto } from 'node:crypto';
import { expect } from 'chai';
import { Stillness } from '#src/features/dry-run/stillness.js';
import { ManualClock } from '#src/kit/time/manual-clock.js';

describe('virtual clock', () => {
  it('stands still until it is moved, and fires in order', () => {
    const clock = new ManualClock(1000);
    const fired: string[] = [];
    clock.setTimer(() => fired.push(`late at ${clock.now()}`), 20);
    clock.setTimer(() => fired.push(`early at ${clock.now()}`), 10);
    clock.setTimer(() => fired.push(`second at ${clock.now()}`), 10);
    expect(clock.now()).to.equal(1000);
    expect(clock.nextMs).to.equal(1010);
    for (let count = 0; clock.nextMs !== undefined && count < 9; count += 1) clock.fireNext();
    expect(fired).to.deep.equal(['early at 1010', 'second at 1010', 'late at 1020']);
    expect(clock.monotonicMs()).to.equal(20);
  });

  it('forgets cancelled timers, and never goes back', () => {
    const clock = new ManualClock(1000);
    const cancel = clock.setTimer(() => undefined, 10);
    cancel();
    expect(clock.nextMs).to.equal(undefined);
    clock.moveTo(500);
    expect(clock.now()).to.equal(1000);
  });
});

describe('stillness', () => {
  const { subtle } = webcrypto;

  /** The time limit of a test is set after its first turn. */
  const stillnessLater = () => nextTurn().then(() => new Stillness());

  it('waits for immediates, for timers and for the work of other threads', async () => {
    const stillness = await stillnessLater();
    const ended: string[] = [];
    let turns = 20;
    const turn = (): void => void (turns-- > 0 ? setImmediate(turn) : ended.push('turns'));
    turn();
    setTimeout(() => ended.push('timer'), 30);
    gzip(Buffer.alloc(4_000_000), () => ended.push('thread'));
    await stillness.wait(() => false);
    expect(ended).to.have.members(['turns', 'timer', 'thread']);
  });

  it('waits for the work of other threads where there is nothing else', async () => {
    const stillness = await stillnessLater();
    let hasEnded = false;
    gzip(randomBytes(4_000_000), () => (hasEnded = true));
    await stillness.wait(() => false);
    expect(hasEnded).to.equal(true);
  });

  it('waits for signatures that another thread checks', async () => {
    const { publicKey, privateKey } = await subtle.generateKey(
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign', 'verify'],
    );
    const how = { name: 'ECDSA', hash: 'SHA-256' };
    const data = randomBytes(4_000_000);
    const signature = await subtle.sign(how, privateKey, data);
    const stillness = await stillnessLater();
    let isGood: boolean | undefined;
    void subtle.verify(how, publicKey, signature, data).then((good) => (isGood = good));
    await stillness.wait(() => false);
    expect(isGood).to.equal(true);
  });

  it('does not wait for timers that were set before', async () => {
    const before = delay(60_000, undefined, { signal: AbortSignal.timeout(5000) }).catch(() => 'over');
    const stillness = await stillnessLater();
    expect(await Promise.race([before, stillness.wait(() => false).then(() => 'still')])).to.equal('still');
  });

  it('ends as soon as the work is over', async () => {
    const interval = setInterval(() => undefined, 1);
    const stillness = await stillnessLater();
    await stillness.wait(() => true);
    clearInterval(interval);
  });

  it('says whether a call began anything', async () => {
    const stillness = await stillnessLater();
    expect(await stillness.isStillAfter(() => undefined)).to.equal(true);
    const goesOn = () => void setImmediate(() => setImmediate(() => setImmediate(() => undefined)));
    expect(await stillness.isStillAfter(goesOn)).to.equal(false);
  });
});
