import { invalid } from './check.js';

/**
 * Refuses a time of expiry, unix milliseconds, that is not in the future, unless it is unchanged. Throws
 * `invalid_request`, with a hint if the time looks like seconds.
 */
export function refusePast(expiresAtMs: number | null | undefined, nowMs: number, before?: number): void {
  if (typeof expiresAtMs !== 'number' || expiresAtMs > nowMs || expiresAtMs === before) return;
  const isSeconds = expiresAtMs < maxSeconds && expiresAtMs * 1000 > nowMs;
  throw invalid([`expires_at: must be in the future${isSeconds ? inMilliseconds(expiresAtMs) : ''}`]);
}

function inMilliseconds(seconds: number): string {
  const ms = seconds * 1000;
  return `: in milliseconds, ${ms}, or as a time such as ${new Date(ms).toISOString()}`;
}

/** Seconds of the year 5138, and milliseconds of 1973. */
const maxSeconds = 1e11;
