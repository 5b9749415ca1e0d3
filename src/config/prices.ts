import type { Price } from '../plugin/core.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import type { Path } from './document.js';
import { isPrice, type RawSlot } from './slot-schema.js';

/** Rules for a slot's prices: their models are ids, and no globs. */
export function slotPriceErrors({ price }: RawSlot): readonly SchemaError[] {
  if (price === undefined) return [];
  if (isPrice(price)) return priceErrors(['price'], price);
  return Object.entries(price).flatMap(([model, own]) => {
    const path = ['price', model];
    const message = 'must be the id of one model, or * for all others';
    return model.includes('*') && model !== '*' ? [{ path, message }] : priceErrors(path, own);
  });
}

/** Rules for a price: costs are summed in whole pico-USD. */
export function priceErrors(path: Path, price: Price): readonly SchemaError[] {
  return Object.entries(price)
    .filter(([, usd]: [string, number]) => Number(usd.toFixed(6)) !== usd)
    .map(([sort]) => ({ path: [...path, sort], message: 'must have at most six decimals' }));
}
