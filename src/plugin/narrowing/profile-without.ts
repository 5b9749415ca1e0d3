import type { ModelProfile } from '../contract/models.js';

/** Profile of a model, corrected by what its upstream has refused. */
export function profileWithout(profile: ModelProfile, without: ReadonlySet<string>): ModelProfile {
  let corrected = profile;
  for (const entry of without) {
    const [name, value = ''] = entry.split('=', 2);
    if (name === 'thinking' && isKind(value)) corrected = { ...corrected, thinking: value };
    if (name === 'efforts') corrected = { ...corrected, efforts: value === '' ? [] : value.split(',') };
    if (name === 'thinking.disabled') corrected = { ...corrected, canStopThinking: false };
  }
  return corrected;
}

function isKind(value: string): value is NonNullable<ModelProfile['thinking']> {
  return value === 'adaptive' || value === 'budget' || value === 'none';
}
