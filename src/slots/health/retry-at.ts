import { unifiedResetMs } from './windows.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Time at which a rate-limited reply allows a retry, unix milliseconds: from `retry-after-ms`, else
 * `retry-after` (seconds or a date), else the reset of the used-up limit; undefined if none of them is in
 * the future.
 */
export function retryAtMs(headers: Headers, nowMs: number): number | undefined {
  const times = [
    afterMs(headers, nowMs),
    after(headers, nowMs),
    unifiedResetMs(headers),
    limitReset(headers),
  ];
  return times.find((each) => each !== undefined && each > nowMs);
}

function afterMs(headers: Headers, nowMs: number): number | undefined {
  const ms = toNumber(headers['retry-after-ms']);
  return ms === undefined ? undefined : nowMs + ms;
}

function after(headers: Headers, nowMs: number): number | undefined {
  const text = headers['retry-after'];
  const seconds = toNumber(text);
  return seconds === undefined ? toTime(text) : nowMs + seconds * 1000;
}

/** Last reset time of the limits with nothing remaining. */
function limitReset(headers: Headers): number | undefined {
  const resets = limits
    .filter((limit) => toNumber(headers[`anthropic-ratelimit-${limit}-remaining`]) === 0)
    .map((limit) => toTime(headers[`anthropic-ratelimit-${limit}-reset`]))
    .filter((time) => time !== undefined);
  return resets.length > 0 ? Math.max(...resets) : undefined;
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
