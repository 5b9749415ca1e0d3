import type { Price, LedgerTokens } from '../../plugin/core.js';
import { exactCost, roundedCost } from '../../state/ledger/cost.js';

/**
 * Cost of tokens that were billed as written to the cache, or as plain input, and could have been read from it:
 * nano-USD above the price of a read; undefined where the price lacks one of these.
 */
export function lostCost(lost: number, billed: LedgerTokens, price: Price): number | undefined {
  // The lost part comes first in the prompt: 1h writes, then those of 5 minutes, then what no marker covers.
  const cacheWrite1h = Math.min(lost, billed.cacheWrite1h);
  const cacheWrite5m = Math.min(lost - cacheWrite1h, billed.cacheWrite5m);
  const input = lost - cacheWrite1h - cacheWrite5m;
  const paid = exactCost({ ...none, input, cacheWrite5m, cacheWrite1h }, price);
  const asRead = exactCost({ ...none, cacheRead: lost }, price);
  return paid === undefined || asRead === undefined ? undefined : roundedCost(Math.max(0, paid - asRead));
}

const none: LedgerTokens = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
