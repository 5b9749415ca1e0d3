import { isExhausted, unifiedReset, headerTime, type GivenTime } from './windows.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Time at which a rate-limited reply allows a retry, and its header: `retry-after-ms`, else `retry-after` (seconds or a
 * date), else the reset of the used-up limit; undefined if none of them is in the future.
 */
export function retryAt(headers: Headers, nowMs: number): GivenTime | undefined {
  const times = [
    afterMs(headers, nowMs),
    retryAfter(headers, nowMs),
    unifiedReset(headers),
    limitReset(headers),
  ];
  return times.find((each) => each !== undefined && each.untilMs > nowMs);
}

/** True for a reply that names a wait of zero, and no used-up window. */
export function mayRetryAtOnce(headers: Headers): boolean {
  const waits = [headers['retry-after-ms'], headers['retry-after']].filter((wait) => wait !== undefined);
  return waits.length > 0 && waits.every((wait) => toNumber(wait) === 0) && !isExhausted(headers);
}

/**
 * Time that a reply asks a client to wait before a retry, milliseconds; undefined if it names none, or if a
 * usage window is used up.
 */
export function retryInMs(headers: Headers, nowMs: number): number | undefined {
  if (isExhausted(headers)) return undefined;
  const given = afterMs(headers, nowMs) ?? retryAfter(headers, nowMs);
  return given && Math.max(0, given.untilMs - nowMs);
}

function afterMs(headers: Headers, nowMs: number): GivenTime | undefined {
  const ms = toNumber(headers['retry-after-ms']);
  return ms === undefined ? undefined : headerTime(headers, 'retry-after-ms', nowMs + ms);
}

function retryAfter(headers: Headers, nowMs: number): GivenTime | undefined {
  const text = headers['retry-after'];
  const seconds = toNumber(text);
  return headerTime(headers, 'retry-after', seconds === undefined ? toTime(text) : nowMs + seconds * 1000);
}

/** Last reset time of the limits with nothing remaining. */
function limitReset(headers: Headers): GivenTime | undefined {
  return limits
    .filter((limit) => toNumber(headers[`anthropic-ratelimit-${limit}-remaining`]) === 0)
    .map((limit) => `anthropic-ratelimit-${limit}-reset`)
    .map((name) => headerTime(headers, name, toTime(headers[name])))
    .reduce((last, time) => (time && time.untilMs > (last?.untilMs ?? 0) ? time : last), undefined);
}

function toNumber(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function toTime(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

const limits = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;
