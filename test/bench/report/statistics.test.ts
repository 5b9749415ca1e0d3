import { expect } from 'chai';
import { median, pairedRatio, quantile, slope } from './statistics.js';

describe('the statistics of a bench', () => {
  it('have a median that one wild value does not move', () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([1, 2, 3, 4, 1000])).to.equal(3);
  });

  it('have quantiles up to the greatest value', () => {
    const values = Array.from({ length: 100 }, (_, at) => at);
    expect(quantile(values, 0.99)).to.equal(99);
    expect(quantile(values, 1)).to.equal(99);
    expect(quantile([], 0.5)).to.be.NaN;
  });

  it('pair values by their round', () => {
    expect(pairedRatio([10, 40, 30], [10, 20, 20])).to.equal(1.5);
    expect(pairedRatio([10], [])).to.be.NaN;
  });

  it('fit a line through points', () => {
    expect(
      slope([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).to.be.closeTo(2, 1e-9);
    expect(
      slope([
        [0, 7],
        [1, 7],
      ]),
    ).to.equal(0);
  });
});
