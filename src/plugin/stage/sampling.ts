import type { ModelProfile } from '../contract/models.js';

/** Sampling parameters that a model accepts; an unknown model accepts `temperature` or `top_p`, not both. */
export function samplingOf(model: ModelProfile | undefined): 'both' | 'one' | 'none' {
  if (model?.sampling === undefined) return 'one';
  if (typeof model.sampling === 'boolean') return model.sampling ? 'both' : 'none';
  return model.sampling;
}
