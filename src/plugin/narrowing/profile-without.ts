import type { ModelProfile } from '../contract/models.js';

/** Profile of a model, corrected by what its upstream has refused. */
export function profileWithout(profile: ModelProfile, without: ReadonlySet<string>): ModelProfile {
  const corrected: { -readonly [Key in keyof ModelProfile]: ModelProfile[Key] } = { ...profile };
  for (const entry of without) {
    const [name, value = ''] = entry.split('=', 2);
    if (name === 'thinking' && isKind(value)) corrected.thinking = value;
    if (name === 'efforts') corrected.efforts = value === '' ? [] : value.split(',');
    if (name === 'thinking.disabled') corrected.canStopThinking = false;
  }
  return corrected;
}

function isKind(value: string): value is NonNullable<ModelProfile['thinking']> {
  return value === 'adaptive' || value === 'budget' || value === 'none';
}
