import { expect } from 'chai';
import { rememberingMask } from '#src/engine/masking/exact-mask.js';

describe('a mask that remembers', () => {
  let asked: string[];
  const mask = rememberingMask((text, maxLength) => {
    asked.push(text);
    return `${maxLength}:${text.length}`;
  });
  beforeEach(() => {
    asked = [];
  });

  it('masks a text that is repeated once, for each length', () => {
    for (let at = 0; at < 1000; at += 1) expect(mask(`text ${at % 2}`, 10)).to.equal('10:6');
    expect(asked).to.deep.equal(['text 0', 'text 1']);
    expect(mask('text 0', 5)).to.equal('5:6');
  });

  it('forgets old texts, and remembers no long ones', () => {
    for (const text of ['a', 'b', 'c', 'd', 'e', 'a']) mask(text, 1);
    expect(asked).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'a']);
    const long = 'x'.repeat(10_000);
    mask(long, 1);
    mask(long, 1);
    expect(asked.slice(-2)).to.deep.equal([long, long]);
  });
});
