import { expect } from 'chai';
import { costOf, exactCost, priceFor, roundedCost } from '#src/state/ledger/cost.js';
import { ledgerTokens } from '#src/plugin/index.js';
import type { LedgerTokens } from '#src/plugin/contract/ledger.js';
import type { Price } from '#src/plugin/contract/models.js';
import { seeded } from '../../support/seeded.js';

const none: LedgerTokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
const whole: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };

describe('the cost of tokens', () => {
  it('is in nano-USD, each sort by its own price', () => {
    const tokens = { input: 1_000_000, cacheRead: 10, cacheWrite5m: 100, cacheWrite1h: 1000, output: 2 };
    expect(costOf(tokens, whole)).to.equal(3e9 + 3000 + 375_000 + 6_000_000 + 30_000);
  });

  it('is nothing for no tokens, and for tokens that are free', () => {
    expect(costOf(none, whole)).to.equal(0);
    expect(costOf({ ...none, input: 5 }, { input: 0, output: 1 })).to.equal(0);
  });

  it('is unknown where a sort of the tokens has no price', () => {
    const price = { input: 3, output: 15 };
    expect(costOf({ ...none, input: 1, output: 1 }, price)).to.equal(18_000);
    for (const sort of ['cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const)
      expect(costOf({ ...none, input: 1, [sort]: 1 }, price), sort).to.equal(undefined);
  });

  it('is a whole number that databases take, whatever an upstream counts', () => {
    for (const count of [1e12, 1e300, Number.MAX_VALUE, Infinity, -1, 0.5, '7', null]) {
      const usage = { input_tokens: count, output_tokens: count, cache_read_input_tokens: count };
      const cost = costOf(ledgerTokens({ billed: usage as never, masked: {} }).billed, whole);
      expect(cost, String(count)).to.satisfy(Number.isSafeInteger);
    }
  });

  it('is rounded once, half up', () => {
    const price = { input: 0.0001, output: 0.0004 }; // 0.1 and 0.4 nano-USD a token
    expect(costOf({ ...none, input: 4 }, price)).to.equal(0);
    expect(costOf({ ...none, input: 5 }, price)).to.equal(1);
    expect(costOf({ ...none, input: 1, output: 1 }, price)).to.equal(1);
    expect(costOf({ ...none, input: 15 }, price)).to.equal(2);
  });

  it('is what exact arithmetic says, for any tokens and prices', () => {
    const random = seeded(7);
    const below = (max: number) => Math.floor(random() * max);
    const sorts = Object.keys(none) as (keyof LedgerTokens)[];
    const micros = () => below(10 ** (1 + below(8)));
    for (let nth = 0; nth < 5000; nth += 1) {
      const rates = sorts.map(micros);
      const counts = sorts.map(() => below(10 ** below(8)));
      const price = Object.fromEntries(sorts.map((sort, at) => [sort, rates[at]! / 1e6])) as unknown as Price;
      const tokens = Object.fromEntries(
        sorts.map((sort, at) => [sort, counts[at]!]),
      ) as unknown as LedgerTokens;
      const exact = rates.reduce((sum, rate, at) => sum + BigInt(rate) * BigInt(counts[at]!), 0n);
      expect(exactCost(tokens, price)).to.equal(Number(exact));
      expect(costOf(tokens, price)).to.equal(Number((exact + 500n) / 1000n));
    }
  });

  it('is rounded exactly up to the largest sum that is exact', () => {
    for (const exact of [
      Number.MAX_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER - 491,
      Number.MAX_SAFE_INTEGER - 492,
    ])
      expect(roundedCost(exact)).to.equal(Number((BigInt(exact) + 500n) / 1000n));
  });

  it('never falls where there are more tokens, and is the sum of its parts but for a nano-USD', () => {
    const random = seeded(8);
    const tokensBelow = (max: number) => {
      const entries = Object.keys(none).map((sort) => [sort, Math.floor(random() * max)]);
      return Object.fromEntries(entries) as unknown as LedgerTokens;
    };
    for (let nth = 0; nth < 1000; nth += 1) {
      const [one, other] = [tokensBelow(200_000), tokensBelow(200)];
      const sum = Object.fromEntries(
        Object.entries(one).map(([sort, count]) => [sort, count + other[sort as keyof LedgerTokens]]),
      ) as unknown as LedgerTokens;
      const [costOne, costOther, together] = [one, other, sum].map((tokens) => costOf(tokens, whole)!);
      expect(together).to.be.at.least(Math.max(costOne!, costOther!));
      expect(Math.abs(together! - costOne! - costOther!)).to.be.at.most(1);
    }
  });
});

describe('the price of a model at a slot', () => {
  const model = { id: 'sonnet-5', price: whole };
  const own = { input: 1, output: 2 };

  it('is the slot’s own for this model, else its own for all others, else that of the catalog', () => {
    expect(priceFor(model)).to.equal(whole);
    expect(priceFor(model, { prices: { 'haiku-5': own } })).to.equal(whole);
    expect(priceFor(model, { prices: { '*': own } })).to.equal(own);
    expect(priceFor(model, { prices: { '*': whole, 'sonnet-5': own } })).to.equal(own);
    expect(priceFor({ id: 'constructor' }, { prices: {} })).to.equal(undefined);
  });

  it('is unknown where neither has one, with a discount too', () => {
    expect(priceFor({ id: 'x' })).to.equal(undefined);
    expect(priceFor({ id: 'x' }, { discount: 1 })).to.equal(undefined);
  });

  it('is less by the discount of the slot, in six decimals', () => {
    expect(priceFor(model, { discount: 0.25, prices: { '*': own } })).to.deep.equal({
      input: 0.75,
      output: 1.5,
    });
    expect(priceFor({ id: 'x', price: { input: 0.1, output: 10 } }, { discount: 1 / 3 })).to.deep.equal({
      input: 0.066667,
      output: 6.666667,
    });
    expect(priceFor(model, { discount: 1 })).to.deep.equal({
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
    expect(priceFor(model, { discount: 0 })).to.equal(whole);
  });
});
