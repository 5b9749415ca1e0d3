import { expect } from 'chai';
import { lostCost } from '#src/features/cache-ledger/cache-losses.js';

const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };
const billed = { input: 1000, cacheRead: 500, cacheWrite5m: 2000, cacheWrite1h: 3000, output: 10 };

describe('the cost of tokens that the cache has lost', () => {
  it('is what they were billed as, less the price of a read', () => {
    expect(lostCost(1000, billed, price)).to.equal(1000 * (6000 - 300));
  });

  it('takes 1h writes first, then 5m writes, then input', () => {
    const expected = 3000 * (6000 - 300) + 2000 * (3750 - 300) + 500 * (3000 - 300);
    expect(lostCost(5500, billed, price)).to.equal(expected);
  });

  it('is unknown where the price lacks one of these sorts', () => {
    const { cacheRead: _, ...unread } = price;
    const { cacheWrite1h: __, ...unwritten } = price;
    expect(lostCost(1000, billed, unread)).to.equal(undefined);
    expect(lostCost(1000, billed, unwritten)).to.equal(undefined);
    expect(lostCost(1000, { ...billed, cacheWrite1h: 0 }, unwritten)).to.equal(1000 * (3750 - 300));
  });

  it('is never below 0', () => {
    expect(lostCost(10, billed, { ...price, cacheRead: 10 })).to.equal(0);
  });
});
