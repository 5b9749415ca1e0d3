import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { limitedIntercept } from '#src/engine/pipeline/run/limited-intercept.js';
import { skippable, systemClock } from '#src/plugin/index.js';
import type { ModelCall, StageContext } from '@gw2api/gateway/plugin';
import { ManualClock, replyOf } from '@gw2api/gateway/testing';

describe('the time limit of an interceptor', () => {
  it('ends with its reply, and not in the calls that continue the answer', async () => {
    const again: (() => ReturnType<ModelCall>)[] = [];
    const limits = { timeoutMs: 20, clock: systemClock, skips: undefined, views: new WeakMap() };
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

  it('counts by the clock of the gateway, without the time of its calls', async () => {
    const clock = new ManualClock();
    const limits = { timeoutMs: 1000, clock, skips: undefined, views: new WeakMap() };
    const place = { stage: 'own', path: 'pipeline[0]', at: 'gateway.yaml:1:1' };
    const silence = new Promise<never>(() => undefined);
    const intercept = limitedIntercept((request, call) => call(request).then(() => silence), place, limits);
    const ctx = { state: {} } as StageContext<never, never>; // all that it is asked for
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let isOver = false;
    const reply = intercept({ model: 'm', messages: [] }, () => answered.then(() => replyOf()), ctx)
      .catch(String)
      .finally(() => (isOver = true));
    clock.pass(60_000);
    answer();
    await turn();
    clock.pass(999);
    await turn();
    expect(isOver).to.equal(false);
    clock.pass(1);
    expect(await reply).to.include('within its timeout of 1 s');
  });
});

describe('an interceptor that fails after its call', () => {
  const place = { stage: 'own', path: 'pipeline[0]', at: 'gateway.yaml:1:1' };
  const limits = { timeoutMs: undefined, clock: systemClock, views: new WeakMap() };
  const request = { model: 'm', messages: [] };

  const failing = (kept: boolean) => async (_: object, call: ModelCall) => {
    const reply = await call(request);
    const error = new Error('It is broken.');
    throw kept ? skippable(error, reply) : error;
  };

  it('is skipped with the reply that it has kept, and named to the caller', async () => {
    const reply = replyOf();
    const headers = new Map([['x-gw-skipped', 'other']]);
    const response = {
      get: (name: string) => headers.get(name) ?? '',
      set: (name: string, value: string) => void headers.set(name, value),
      headerSent: false,
    };
    const skipped: unknown[] = [];
    const trace = { clock: { skip: (stage: unknown) => void skipped.push(stage) } };
    const log = { warn: () => undefined };
    const ctx = { state: { trace, log }, response } as unknown as StageContext<never, never>; // all that it is asked for
    const intercept = limitedIntercept(failing(true), place, { ...limits, skips: [] });
    expect(await intercept(request, async () => reply, ctx)).to.equal(reply);
    expect(headers.get('x-gw-skipped')).to.equal('other, own');
    expect(skipped).to.deep.equal([place]);
  });

  it('fails without such a reply, and where its entry says so', async () => {
    const ctx = { state: {} } as StageContext<never, never>; // as above
    for (const [kept, skips] of [
      [false, []],
      [true, undefined],
    ] as const) {
      const intercept = limitedIntercept(failing(kept), place, { ...limits, skips });
      const error = await intercept(request, async () => replyOf(), ctx).catch(String);
      expect(error).to.equal('Error: It is broken.');
    }
  });
});

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
