import { expect } from 'chai';
import { array, assert, constantFrom, property, string } from 'fast-check';
import { globMatcher } from '#src/plugin/index.js';

const letters = string({ unit: constantFrom('a', 'b', '.', '\n'), maxLength: 6 });

describe('a glob', () => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ['sonnet-5', 'sonnet-5', true],
    ['sonnet-5', 'sonnet-5-5', false],
    ['sonnet-*', 'sonnet-', true],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*-5*', 'sonnet-5-5', true],
    ['a.c', 'abc', false],
    ['**', 'two\nlines', true],
  ];
  for (const [pattern, text, matches] of cases)
    it(`${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      expect(globMatcher([pattern])(text)).to.equal(matches);
    });

  it('matches whatever stands for its stars', () => {
    assert(
      property(array(letters, { minLength: 1, maxLength: 4 }), letters, (parts, between) => {
        expect(globMatcher([parts.join('*')])(parts.join(between))).to.equal(true);
      }),
    );
  });

  it('is what the same regular expression says', () => {
    assert(
      property(string({ unit: constantFrom('a', 'b', '*'), maxLength: 6 }), letters, (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 's');
        expect(globMatcher([pattern])(text)).to.equal(expression.test(text));
      }),
    );
  });

  it('of many stars takes no longer for a name that nearly matches', () => {
    expect(globMatcher(['*a*a*a*b'])('a'.repeat(200_000))).to.equal(false);
  });
});
