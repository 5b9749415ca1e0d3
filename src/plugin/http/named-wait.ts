import { isRecord } from '../../kit/schema/record.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Headers of a refused call with the `retry-after` derived from its body or its `x-ratelimit-*` headers, in whole
 * seconds, if it is a rate limit without one. A date in `retry-after` becomes seconds; an invalid value is left out.
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

/** Headers with the stated wait in whole seconds; undefined if it is not a wait. */
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

/**
 * Seconds until the used-up limits of `x-ratelimit-*` headers are reset (durations, seconds, dates, or Unix times);
 * undefined if none is used up. Resets without further headers belong to the limit of the refusal.
 */
function usedUpSeconds(headers: Headers, nowMs: number): number | undefined {
  const limits = Object.keys(headers).filter((name) => name.startsWith(remaining));
  const usedUp = limits.filter((name) => Number.parseFloat(headers[name] ?? '') <= 0);
  const resets = usedUp.map((name) => `${reset}${name.slice(remaining.length)}`);
  const relevant = limits.length > 0 ? resets : Object.keys(headers).filter((name) => name.startsWith(reset));
  const waits = relevant.flatMap((name) => secondsIn(headers[name] ?? '', nowMs) ?? []);
  return waits.length > 0 ? Math.max(1, Math.ceil(Math.max(...waits))) : undefined;
}

const remaining = 'x-ratelimit-remaining';
const reset = 'x-ratelimit-reset';

/** Seconds of a wait: `34.4s`, `6m0s`, `120ms`, `20`, or until a date or Unix time; undefined for other texts. */
function secondsIn(text: string, nowMs: number): number | undefined {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return secondsOfNumber(value, nowMs);
  const [whole, hours = 0, minutes = 0, seconds = 0, ms = 0] = duration.exec(text.slice(0, 40)) ?? [];
  if (whole) return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(ms) / 1000;
  const untilMs = text.length < 60 ? Date.parse(text) : Number.NaN;
  return Number.isNaN(untilMs) ? undefined : Math.max(0, (untilMs - nowMs) / 1000);
}

function secondsOfNumber(value: number, nowMs: number): number {
  if (value < earliestTime) return Math.max(0, value);
  const untilMs = value < earliestTime * 1000 ? value * 1000 : value;
  return Math.max(0, (untilMs - nowMs) / 1000);
}

/** Unix seconds; smaller numbers are waits. */
const earliestTime = 1e9;

const duration = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
