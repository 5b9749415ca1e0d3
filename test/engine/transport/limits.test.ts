import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { aCall, Kit, later, openMessages } from './upstream-kit.js';

describe('the limits of a call', () => {
  it('are measured by the clock of the gateway', async () => {
    const [clock, kit] = [new ManualClock(), new Kit()];
    const { promise: received, resolve } = later();
    const upstream = await openMessages({ baseUrl: await kit.serve(() => resolve()) }, clock);
    try {
      let isOver = false;
      const answer = upstream
        .generate(aCall({ headersTimeoutMs: 60_000 }))
        .catch((error: unknown) => error)
        .finally(() => (isOver = true));
      await received;
      clock.pass(59_999);
      await new Promise((turn) => void setImmediate(turn));
      expect(isOver).to.equal(false);
      clock.pass(1);
      expect(await answer).to.include({
        code: 'upstream_timeout',
        message: 'The upstream of slot "team-a" did not begin to answer within 60000 ms.',
      });
    } finally {
      await Promise.all([upstream.close(), kit.close()]);
    }
  });
});
