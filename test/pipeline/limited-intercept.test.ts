import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { limitedIntercept } from '#src/pipeline/limited-intercept.js';
import type { ModelCall, StageContext } from 'gw2api/plugin';
import { replyOf } from 'gw2api/testing';

describe('the time limit of an interceptor', () => {
  it('ends with its reply, and not in the calls that continue the answer', async () => {
    const again: (() => ReturnType<ModelCall>)[] = [];
    const limits = { timeoutMs: 20, skips: undefined, views: new WeakMap() };
    const place = { stage: 'own', path: 'pipeline[0]', at: 'gateway.yaml:1:1' };
    const intercept = limitedIntercept(
      (request, call) => {
        again.push(() => call(request));
        return call(request);
      },
      place,
      limits,
    );
    const ctx = { state: {} } as StageContext<never, never>; // all that it is asked for
    await intercept({ model: 'm', messages: [] }, async () => replyOf(), ctx);
    for (let nth = 1; nth <= 3; nth += 1) {
      busy(30);
      expect(await again[0]?.(), `call ${nth}`).to.have.property('status', 200);
      busy(5);
      await turn();
      await turn();
    }
  });
});

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
