import { isRecord } from '../../kit/schema/record.js';
import { secondsIn, usedUpSeconds } from './rate-limit-headers.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Headers of a refused call with the `retry-after` that its body or its `x-ratelimit-*` headers mean, in whole
 * seconds, where it is a refusal of too much and has none; a date in `retry-after` becomes seconds, and what is neither is
 * left out.
 */
export function withNamedWait(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  error: Readonly<Record<string, unknown>>,
  nowMs: number,
): Headers {
  const { 'retry-after': stated, ...others } = headers;
  const own = stated === undefined ? undefined : withSeconds(headers, stated, nowMs);
  if (own) return own;
  if (!ofTooMuch.has(status) || headers['retry-after-ms'] !== undefined) return others;
  const seconds = waitIn(error, nowMs) ?? (status === 429 ? usedUpSeconds(headers, nowMs) : undefined);
  return seconds === undefined ? others : { ...others, 'retry-after': String(Math.ceil(seconds)) };
}

const ofTooMuch: ReadonlySet<number> = new Set([429, 503, 529]);

/** Headers with the stated wait in whole seconds; undefined where that says nothing. */
function withSeconds(headers: Headers, stated: string, nowMs: number): Headers | undefined {
  if (/^\s*\d+\s*$/.test(stated)) return headers;
  const seconds = secondsIn(stated, nowMs);
  return seconds === undefined ? undefined : { ...headers, 'retry-after': String(Math.ceil(seconds)) };
}

/** Seconds of the wait in an error: Google's RetryInfo, OpenRouter's headers of the provider, and `retry_after`. */
function waitIn(error: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const { details, metadata } = error;
  const places = [error, metadata, ...(Array.isArray(details) ? details.slice(0, 20) : [])].filter(isRecord);
  for (const place of places) {
    for (const name of waits) {
      const wait = secondsOf(place[name], nowMs);
      if (wait !== undefined) return wait;
    }
  }
  const { headers } = isRecord(metadata) ? metadata : {};
  return isRecord(headers) ? headersWait(headers, nowMs) : undefined;
}

const waits = ['retryDelay', 'retry_after', 'retry_after_seconds', 'resets_in_seconds', 'resets_at'] as const;

function secondsOf(value: unknown, nowMs: number): number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? secondsIn(String(value), nowMs) : undefined;
}

function headersWait(given: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const entries = Object.entries(given).slice(0, 100);
  const headers = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
  return secondsOf(headers['retry-after'], nowMs) ?? usedUpSeconds(headers, nowMs);
}
