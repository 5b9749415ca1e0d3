import { expect } from 'chai';
import { CallController } from '#src/plugin/internal.js';

describe('a call controller', () => {
  it('tells its listeners once, in their order, those that were removed not', () => {
    const signal = new CallController();
    const told: string[] = [];
    const removed = () => void told.push('removed');
    signal.addEventListener('abort', () => void told.push('first'));
    signal.addEventListener('abort', removed);
    signal.addEventListener('abort', () => void told.push('last'));
    signal.removeEventListener('abort', removed);
    signal.abort('why');
    signal.abort('again');
    expect(told).to.deep.equal(['first', 'last']);
    expect(signal).to.include({ aborted: true, reason: 'why' });
    expect(() => signal.throwIfAborted())
      .to.throw()
      .that.equals('why');
  });

  it('tells all of them, also where one removes others or adds some', () => {
    const signal = new CallController();
    const told: string[] = [];
    const second = () => void told.push('second');
    signal.addEventListener('abort', () => {
      signal.removeEventListener('abort', second);
      signal.addEventListener('abort', () => void told.push('too late'));
    });
    signal.addEventListener('abort', second);
    signal.addEventListener('abort', () => void told.push('third'));
    signal.abort('why');
    expect(told).to.deep.equal(['third']);
  });

  it('is an AbortSignal for whoever asks for one, before its end or after', () => {
    const before = new CallController();
    const { abortSignal } = before;
    expect(abortSignal).to.be.an.instanceof(AbortSignal);
    expect(before.abortSignal).to.equal(abortSignal);
    expect(abortSignal.aborted).to.equal(false);
    before.abort('why');
    expect(abortSignal).to.include({ aborted: true, reason: 'why' });

    const after = new CallController();
    after.abort('over');
    expect(after.abortSignal).to.include({ aborted: true, reason: 'over' });
  });
});
