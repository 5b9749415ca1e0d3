/** Key issued to a caller; the key itself is never stored. */
export interface ProtocolKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** Hex SHA-256 of the whole key. */
  readonly hash: string;
  /** The key's last four characters, to identify it. */
  readonly last4: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAtMs: number;
  /** Time of last use; late by some seconds, because it is written in batches. */
  readonly lastUsedAtMs?: number;
  /** Absent: never. */
  readonly expiresAtMs?: number;
  /** Time of revocation; the key is refused from then on. */
  readonly revokedAtMs?: number;
  /** Catalog ids or globs that it may use; absent: all. */
  readonly models?: readonly string[];
  /** Slot ids or globs whose accounts it may use; absent: all. */
  readonly slots?: readonly string[];
  /** Id of its team, whose limits and budgets it shares; absent: none. */
  readonly team?: string;
  /** Name of the pipeline of its requests, whichever its team names; absent: that of its team, if that names one. */
  readonly pipeline?: string;
  readonly note?: string;
  /** Secrets before the last rotations that have not ended, the oldest first; absent: none. */
  readonly formerSecrets?: readonly FormerSecret[];
}

/** Secret of a key, as it is stored. */
export type KeySecret = Pick<ProtocolKey, 'hash' | 'last4'>;

/** Secret that was replaced by a rotation, and is accepted until `endsAtMs` (unix milliseconds). */
export interface FormerSecret extends KeySecret {
  readonly endsAtMs: number;
}

/** Limits of one key or team; an absent field means no limit. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  /** Input and output tokens as shown to the caller, cache reads and writes included; as in the next two. */
  readonly tokensPerMinute?: number;
  /** Per calendar day (UTC). */
  readonly tokensPerDay?: number;
  /** Per calendar month (UTC). */
  readonly tokensPerMonth?: number;
  /** Budget in USD, by the upstream's bill, per calendar day (UTC). */
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
