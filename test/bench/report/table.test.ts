import { expect } from 'chai';
import { against, mark, table } from './table.js';

describe('a table of the bench', () => {
  it('lines its columns up, names to the left and figures to the right', () => {
    const lines = table(
      ['who', 'µs'],
      [
        ['gateway', '12'],
        ['nginx', '3'],
      ],
    ).split('\n');
    expect(lines).to.deep.equal([
      '| who     |  µs |',
      '|---------|----:|',
      '| gateway |  12 |',
      '| nginx   |   3 |',
    ]);
  });

  it('says of a figure with a goal whether it is met', () => {
    expect(against(0.5, 1)).to.equal('0.50 (≤ 1 ✓)');
    expect(against(1.21, 1.2)).to.equal('1.21 (≤ 1.2 ✗)');
    expect(against(1.21)).to.equal('1.21');
    expect(mark(3, undefined)).to.equal('');
  });
});
