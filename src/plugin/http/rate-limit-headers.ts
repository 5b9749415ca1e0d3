type Headers = Readonly<Record<string, string>>;

/**
 * Seconds until the used-up limits of `x-ratelimit-*` headers are reset; undefined if none is used up. A server
 * that tells resets alone means the limit that it has refused by. Resets are durations (`6m0s`, `120ms`), seconds,
 * dates, or Unix times in seconds or milliseconds.
 */
export function usedUpSeconds(headers: Headers, nowMs: number): number | undefined {
  const limits = Object.keys(headers).filter((name) => name.startsWith(remaining));
  const usedUp = limits.filter((name) => Number.parseFloat(headers[name] ?? '') <= 0);
  const resets = usedUp.map((name) => `${reset}${name.slice(remaining.length)}`);
  const told = limits.length > 0 ? resets : Object.keys(headers).filter((name) => name.startsWith(reset));
  const waits = told.flatMap((name) => secondsIn(headers[name] ?? '', nowMs) ?? []);
  return waits.length > 0 ? Math.max(1, Math.ceil(Math.max(...waits))) : undefined;
}

const remaining = 'x-ratelimit-remaining';
const reset = 'x-ratelimit-reset';

/** Seconds of a wait: `34.4s`, `6m0s`, `120ms`, `20`, or until a date or Unix time; undefined for other texts. */
export function secondsIn(text: string, nowMs: number): number | undefined {
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
