import type { CatalogModel } from '../../plugin/index.js';
import type { Price, LedgerTokens } from '../../plugin/core.js';

/** Prices of a slot: its own by model, and its discount. */
export interface SlotPrices {
  /** By catalog id; `*` is for all other models. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** Part of the price that is not billed, 0 to 1. */
  readonly discount?: number;
}

/**
 * Price of a model at a slot: the slot's own, else the catalog's, less the slot's discount; undefined if neither has one.
 * Discounted prices are rounded to six decimals.
 */
export function priceFor(
  model: Pick<CatalogModel, 'id' | 'price'>,
  { prices, discount = 0 }: SlotPrices = {},
): Price | undefined {
  const own = prices && Object.hasOwn(prices, model.id) ? prices[model.id] : prices?.['*'];
  const price = own ?? model.price;
  return price && discount > 0 ? discounted(price, discount) : price;
}

function discounted(price: Price, discount: number): Price {
  const entries = Object.entries(price).map(([kind, usd]) => [
    kind,
    Math.round(usd * (1 - discount) * pico) / pico,
  ]);
  return Object.fromEntries(entries) as Price; // has the same fields
}

/** Cost in nano-USD, rounded once, half up; undefined if the price lacks a kind of the tokens. */
export function costOf(tokens: LedgerTokens, price: Price): number | undefined {
  const exact = exactCost(tokens, price);
  return exact === undefined ? undefined : roundedCost(exact);
}

/**
 * Cost in whole pico-USD: a price has at most six decimals, and USD a million tokens are micro-USD a token. Exact up
 * to 9,007 USD.
 */
export function exactCost(tokens: LedgerTokens, price: Price): number | undefined {
  let sum = 0;
  for (const kind of tokenKinds) {
    if (tokens[kind] === 0) continue;
    const usd = price[kind];
    if (usd === undefined) return undefined;
    sum += tokens[kind] * Math.round(usd * pico);
  }
  return sum;
}

/** Nano-USD of a sum of exact costs. */
export function roundedCost(exact: number): number {
  const rest = exact % 1000;
  return (exact - rest) / 1000 + Number(rest >= 500);
}

/** Prices that a model lacks at a slot: with one of them missing, the cost of a request may turn out unknown. */
export type PriceGaps = (
  model: Pick<CatalogModel, 'id' | 'price'>,
  slot: SlotPrices,
) => readonly (keyof Price)[];

export const priceGaps: PriceGaps = (model, slot) => {
  const price = priceFor(model, slot);
  return price ? tokenKinds.filter((kind) => price[kind] === undefined) : tokenKinds;
};

const tokenKinds = ['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const;

/** Pico-USD a token, for one USD a million tokens. */
const pico = 1e6;
