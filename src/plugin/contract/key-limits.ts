/** What one key may use. Absent: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  /** Input and output as the caller is told, what was read from or written to a cache included; as in the other two. */
  readonly tokensPerMinute?: number;
  /** Of a calendar day in UTC. */
  readonly tokensPerDay?: number;
  /** Of a calendar month in UTC. */
  readonly tokensPerMonth?: number;
  /** Requests under way at a time, over all instances. */
  readonly maxConcurrent?: number;
}

/** The limits on tokens, the shortest window first. */
export const tokenLimits = ['tokensPerMinute', 'tokensPerDay', 'tokensPerMonth'] as const;

export type TokenLimit = (typeof tokenLimits)[number];

const limitNames = ['requestsPerMinute', ...tokenLimits, 'maxConcurrent'] as const;

/** The limits among other fields; undefined where there is none. */
export function keyLimits(fields: KeyLimits): KeyLimits | undefined {
  const names = limitNames.filter((name) => fields[name] !== undefined);
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, fields[name]])) : undefined;
}
