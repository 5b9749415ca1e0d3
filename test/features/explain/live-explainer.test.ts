import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { LiveExplainer } from '#src/features/explain/live-explainer.js';
import type { Runtime } from '#src/gateway/runtime.js';
import type { Services } from '#src/gateway/services.js';

describe('LiveExplainer', () => {
  it('counts one whose request is being read, and reads no request that it has no place for', async () => {
    const services = { dry: false, clock: new ManualClock() } as Partial<Services> as Services; // nothing else is asked for
    const closing = new AbortController().signal;
    const explanations = new LiveExplainer({ runtime: {} as Runtime, services, closing });
    const broken = new Error('the body has broken off');
    let breakOff: () => void = () => undefined;
    const body = new Promise<never>((_, reject) => (breakOff = () => reject(broken)));
    const reading = [1, 2].map(() => explanations.explain(() => body));
    let isRead = false;
    const third = explanations.explain(() => {
      isRead = true;
      throw broken;
    });
    expect(await codeOf(third)).to.equal('rate_limited');
    expect(isRead).to.equal(false);
    breakOff();
    for (const each of reading) expect(await each.catch((error: unknown) => error)).to.equal(broken);
    expect(
      await explanations.explain(() => Promise.reject(broken)).catch((error: unknown) => error),
    ).to.equal(broken);
  });
});

async function codeOf(failing: Promise<unknown>): Promise<unknown> {
  return failing.then(
    () => undefined,
    (error: unknown) => (error as { readonly code?: unknown }).code, // of a GatewayError
  );
}
