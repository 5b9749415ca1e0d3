import type { CatalogModel } from './contract/models.js';

/** The sampling parameters that a model takes; one that the catalog lacks takes `temperature` or `top_p`, not both. */
export function samplingOf(model: CatalogModel | undefined): 'both' | 'one' | 'none' {
  if (!model) return 'one';
  if (typeof model.sampling === 'boolean') return model.sampling ? 'both' : 'none';
  return model.sampling;
}
