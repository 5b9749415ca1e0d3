import type { ModelProfile } from '../../plugin/format/index.js';

/** Profile merged with one learned from a refusal, which takes precedence but never raises a cap. */
export function corrected(profile: ModelProfile, by: ModelProfile): ModelProfile {
  const { contextWindow, thinking, canStopThinking, efforts, sampling } = { ...profile, ...by };
  return present({ ...caps(profile, by), contextWindow, thinking, canStopThinking, efforts, sampling });
}

/** The profile that is valid for either of two upstreams, since a request may go to any of them. */
export function commonProfile(a: ModelProfile, b: ModelProfile): ModelProfile {
  const { thinking, canStopThinking } = { ...b, ...a };
  const efforts =
    a.efforts && b.efforts ? a.efforts.filter((level) => b.efforts?.includes(level)) : undefined;
  return present({
    ...caps(a, b),
    contextWindow: lower(a.contextWindow, b.contextWindow),
    thinking,
    canStopThinking,
    efforts: efforts ?? a.efforts ?? b.efforts,
  });
}

function caps(a: ModelProfile, b: ModelProfile): { readonly maxTokens: number | undefined } {
  return { maxTokens: lower(a.maxTokens, b.maxTokens) };
}

function lower(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Without unknown fields. */
function present(profile: {
  readonly [Key in keyof ModelProfile]: ModelProfile[Key] | undefined;
}): ModelProfile {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}
