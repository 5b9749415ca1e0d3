import type { CatalogModel } from '../../plugin/index.js';
import type { Price } from '../../plugin/core.js';
import { priceFor, type SlotPrices } from './cost.js';

/** Prices that a model lacks at a slot: with one of them missing, the cost of a request may turn out unknown. */
export type PriceGaps = (
  model: Pick<CatalogModel, 'id' | 'price'>,
  slot: SlotPrices,
) => readonly (keyof Price)[];

export const priceGaps: PriceGaps = (model, slot) => {
  const price = priceFor(model, slot);
  return price ? sorts.filter((sort) => price[sort] === undefined) : sorts;
};

const sorts = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
] as const satisfies (keyof Price)[];
