/** Limits of one key; an absent field is no limit. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  /** Input and output tokens as shown to the caller, cache reads and writes included; as in the next two. */
  readonly tokensPerMinute?: number;
  /** Per calendar day (UTC). */
  readonly tokensPerDay?: number;
  /** Per calendar month (UTC). */
  readonly tokensPerMonth?: number;
  /** Max concurrent requests, over all instances. */
  readonly maxConcurrent?: number;
}

/** Token limits, the shortest window first. */
export const tokenLimits = ['tokensPerMinute', 'tokensPerDay', 'tokensPerMonth'] as const;

export type TokenLimit = (typeof tokenLimits)[number];

/** Limits that are counted in a window of time, the shortest first. */
export const windowLimits = ['requestsPerMinute', ...tokenLimits] as const;

export type WindowLimit = (typeof windowLimits)[number];

const limitNames = [...windowLimits, 'maxConcurrent'] as const;

/** Picks the limits from other fields; undefined if there are none. */
export function keyLimits(fields: KeyLimits): KeyLimits | undefined {
  const names = limitNames.filter((name) => fields[name] !== undefined);
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, fields[name]])) : undefined;
}
