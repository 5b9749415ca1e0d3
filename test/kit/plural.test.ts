import { expect } from 'chai';
import { counted } from '#src/kit/plural.js';

describe('a number of things', () => {
  it('has the singular for one alone', () => {
    expect([0, 1, 2].map((count) => counted(count, 'key'))).to.deep.equal(['0 keys', '1 key', '2 keys']);
  });

  it('has a plural of its own where one is given', () => {
    expect([1, 2].map((count) => counted(count, 'process', 'processes'))).to.deep.equal([
      '1 process',
      '2 processes',
    ]);
  });
});
