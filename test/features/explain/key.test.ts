import { expect } from 'chai';
import { keysOf, type GivenKey } from '#src/features/explain/verb/key.js';

describe('the key of an explained request', () => {
  it('has the limits of the options, and their use', () => {
    const given = { as: 'red', 'key-limit': ['tokensPerDay=9', 'usdPerDay=0.5'], used: ['tokensPerDay=1'] };
    expect(keysOf(given)).to.deep.equal({
      keys: { red: { tokensPerDay: 9, usdPerDay: 0.5, used: { tokensPerDay: { used: 1 } } } },
      teams: {},
    });
  });

  for (const as of ['master', 'none'])
    for (const option of ['key-limit', 'used', 'team-limit', 'team-used'] as const)
      it(`has no --${option} as ${as}`, () => {
        const given: GivenKey = { as, [option]: ['tokensPerDay=1'] };
        expect(() => keysOf(given)).to.throw(`--${option} needs a key that has limits, not --as ${as}.`);
      });

  it('has each limit once', () => {
    for (const option of ['key-limit', 'used', 'team-limit', 'team-used'] as const)
      expect(() => keysOf({ [option]: ['tokensPerDay=1', 'tokensPerDay=900'] })).to.throw(
        `--${option} names tokensPerDay more than once.`,
      );
  });

  it('has amounts that are whole unless they are USD', () => {
    expect(() => keysOf({ 'key-limit': ['tokensPerDay=0.5'] })).to.throw(
      'its amount is a whole number above 0',
    );
  });
});
