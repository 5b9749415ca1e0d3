/** Limits of one key or team; an absent field is no limit. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  /** Input and output tokens as shown to the caller, cache reads and writes included; as in the next two. */
  readonly tokensPerMinute?: number;
  /** Per calendar day (UTC). */
  readonly tokensPerDay?: number;
  /** Per calendar month (UTC). */
  readonly tokensPerMonth?: number;
  /** Budget in USD, of what the upstream bills, per calendar day (UTC). */
  readonly usdPerDay?: number;
  /** Budget in USD per calendar month (UTC). */
  readonly usdPerMonth?: number;
  /** Max concurrent requests, over all instances. */
  readonly maxConcurrent?: number;
}

/** Limits that are counted in a window of time, the shortest first. */
export const windowLimits = [
  'requestsPerMinute',
  'tokensPerMinute',
  'tokensPerDay',
  'tokensPerMonth',
  'usdPerDay',
  'usdPerMonth',
] as const;

export type WindowLimit = (typeof windowLimits)[number];

/** Every limit of a key. */
export const limitNames = [...windowLimits, 'maxConcurrent'] as const satisfies readonly (keyof KeyLimits)[];

/** Names of the limits in the API and in tables. */
export const limitFields = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  tokensPerDay: 'tokens_per_day',
  tokensPerMonth: 'tokens_per_month',
  usdPerDay: 'usd_per_day',
  usdPerMonth: 'usd_per_month',
  maxConcurrent: 'max_concurrent',
} as const satisfies Readonly<Record<keyof KeyLimits, string>>;

/** Picks the limits from other fields; undefined if there are none. */
export function keyLimits(fields: KeyLimits): KeyLimits | undefined {
  const names = limitNames.filter((name) => fields[name] !== undefined);
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, fields[name]])) : undefined;
}
