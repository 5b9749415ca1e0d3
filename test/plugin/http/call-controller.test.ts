import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallSignal } from '@gw2api/gateway/plugin/raw';
import { abortSignal } from '@gw2api/gateway/plugin/upstream';
import { CallController } from '#src/plugin/http/call-controller.js';

describe('the native signal of a call', () => {
  const listening = (signal: CallSignal): CallSignal => ({
    aborted: signal.aborted,
    reason: 'why',
    throwIfAborted: () => signal.throwIfAborted(),
    addEventListener: (type, listener) => signal.addEventListener(type, listener),
    removeEventListener: (type, listener) => signal.removeEventListener(type, listener),
  });

  it('is the signal itself where that is native', () => {
    const { signal } = new AbortController();
    expect(abortSignal(signal)).to.equal(signal);
  });

  for (const [what, wrap] of [
    ['one of ours', (controller: CallController) => controller],
    ['one of another make', listening],
  ] as const)
    it(`aborts with ${what}, before and after it was asked for`, () => {
      const controller = new CallController();
      const native = abortSignal(wrap(controller));
      expect(native).to.be.instanceOf(AbortSignal).with.property('aborted', false);
      controller.abort('why');
      expect(native).to.include({ aborted: true, reason: 'why' });
      expect(abortSignal(wrap(controller))).to.include({ aborted: true, reason: 'why' });
    });

  it('ends a fetch', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const controller = new CallController();
    const answer = fetch(`http://127.0.0.1:${port}`, { signal: abortSignal(controller) }).catch(String);
    await once(server, 'request');
    controller.abort('the caller has left');
    expect(await answer).to.equal('the caller has left');
    server.closeAllConnections();
    server.close();
  });
});

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
