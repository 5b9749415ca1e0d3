import { expect } from 'chai';
import { callerClaims } from '@gw2api/gateway/plugin';

describe('callerClaims', () => {
  it('copies JSON fields, and freezes the copy', () => {
    const given = { sub: 'ann', groups: ['a', 'b'], age: 7, left: undefined };
    const claims = callerClaims(given);
    given.groups.push('c');
    expect(claims).to.deep.equal({ sub: 'ann', groups: ['a', 'b'], age: 7 });
    expect(Object.isFrozen(claims)).to.equal(true);
  });

  for (const [what, given] of [
    ['an array', []],
    ['a text', 'x'],
    ['nothing', undefined],
    ['what is written as no object', { toJSON: () => 'x' }],
  ] as const)
    it(`refuses ${what}`, () => {
      expect(() => callerClaims(given)).to.throw(RangeError, 'must be a JSON object');
    });

  it('refuses more than 8 KB', () => {
    expect(() => callerClaims({ text: 'x'.repeat(9000) })).to.throw(RangeError, 'at most 8192 are allowed');
  });
});
