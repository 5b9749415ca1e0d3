import { expect } from 'chai';
import { simulate, type SimulationTerms } from './simulation.js';
import { defaultCooldown } from '../../default-cooldown.js';

const minute = 60_000;

/** Overloads of 17 s at four slots with traffic as users reported it (sub2api #7219). */
const overloads: SimulationTerms = {
  durationMs: 30 * minute,
  requestsPerSecond: 4,
  overloadMs: 17_000,
  betweenOverloadsMs: 90_000,
  cooldown: defaultCooldown,
  maxConcurrent: 16,
};

/** Cooldowns of ten minutes, whatever the failure was. */
const tenMinutes = {
  ...defaultCooldown,
  rateLimited: { firstMs: 10 * minute, maxMs: 10 * minute },
  overloaded: { firstMs: 10 * minute, maxMs: 10 * minute },
};

describe('30 minutes of traffic on four slots', function () {
  this.timeout(120_000);

  it('with overloads of 17 s lose at most 2 % of the requests', async () => {
    const { requests, failed } = await simulate(overloads);
    expect(requests).to.be.greaterThan(6500);
    expect(failed / requests).to.be.at.most(0.02);
  });

  it('lose more of them the longer a slot is left alone for a short overload', async () => {
    const [short, long] = [await simulate(overloads), await simulate({ ...overloads, cooldown: tenMinutes })];
    expect(long.failed).to.be.greaterThan(short.failed);
  });

  it('have a slot in use again within 15 minutes whose quota was to be reset in five days and came back early', async () => {
    const usedUp = { slots: ['a'], fromMs: 2 * minute, untilMs: 8 * minute };
    const terms = { ...overloads, maxConcurrent: 32, usedUp };
    const { requests, failed, backAfterMs } = await simulate(terms);
    for (const backMs of backAfterMs) expect(backMs).to.be.at.most(15 * minute);
    expect(backAfterMs).to.have.length(1);
    expect(failed / requests).to.be.at.most(0.02);
    const believing = { ...terms, cooldown: { ...defaultCooldown, maxMs: 6 * 24 * 60 * minute } };
    expect((await simulate(believing)).backAfterMs, 'a gateway that believes the header').to.deep.equal([]);
  });
});
