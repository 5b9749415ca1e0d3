import { GatewayError, type KeyLimits, type LimitWindow } from '@gw2api/gateway/plugin';

/** Current state of one limit of a key or team. */
export interface Gauge {
  readonly holder: { readonly kind: 'key' | 'team'; readonly name: string };
  readonly limit: LimitWindow['limit'];
  readonly unit: LimitWindow['unit'];
  readonly max: number;
  readonly used: number;
  readonly resetsInMs: number;
  /** True if the limit is reached. */
  readonly isFull: boolean;
}

const words: Readonly<Record<Exclude<keyof KeyLimits, 'usdPerDay' | 'usdPerMonth'>, string>> = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  tokensPerDay: 'tokens per day',
  tokensPerMonth: 'tokens per month',
  maxConcurrent: 'requests at a time',
};

/** `1 request per minute`, `60 requests per minute`. */
function amountOf(max: number, limit: keyof typeof words): string {
  return `${max} ${max === 1 ? words[limit].replace('s ', ' ') : words[limit]}`;
}

/** Error for a request beyond the concurrency limit. */
export function tooManyAtOnce(holder: Gauge['holder'], max: number): GatewayError {
  const reached = `${nameOf(holder)} has reached its limit of ${amountOf(max, 'maxConcurrent')}`;
  return new GatewayError('rate_limited', `${reached}; it may continue when one of them has ended.`, {
    headers: { 'retry-after': '1' },
  });
}

/** Error for one request with more answers than the concurrency limit; retries do not help. */
export function tooManyAnswers(holder: Gauge['holder'], max: number, answers: number): GatewayError {
  const limit = `${nameOf(holder)} has a limit of ${amountOf(max, 'maxConcurrent')}`;
  return new GatewayError('rate_limited', `${limit}, and this request asks for ${answers} answers.`, {
    headers: { 'x-should-retry': 'false' },
  });
}

/** Reached limit that resets last, since a retry before that would fail. */
export function lastToReset(gauges: readonly Gauge[]): Gauge | undefined {
  return gauges.filter(({ isFull }) => isFull).toSorted(latestFirst)[0];
}

/** Error for a limit that is reached. */
export function refusalOf(gauge: Gauge, nowMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(gauge.resetsInMs / 1000));
  const opensAtMs = Math.ceil((nowMs + gauge.resetsInMs) / 1000) * 1000;
  const opens = new Date(opensAtMs).toISOString().replace('.000Z', 'Z');
  const isBudget = gauge.unit === 'usd';
  const message = `${reachedBy(gauge)}; it may continue in ${seconds} s, at ${opens}.`;
  return new GatewayError(isBudget ? 'budget_exceeded' : 'rate_limited', message, {
    headers: {
      'retry-after': String(seconds),
      ...((isBudget || seconds > maxRetrySeconds) && { 'x-should-retry': 'false' }),
    },
  });
}

/** A budget before another limit that resets at the same time. */
function latestFirst(a: Gauge, b: Gauge): number {
  return b.resetsInMs - a.resetsInMs || Number(b.unit === 'usd') - Number(a.unit === 'usd');
}

function reachedBy({ holder, limit, max, used }: Gauge): string {
  const name = nameOf(holder);
  if (limit === 'usdPerDay' || limit === 'usdPerMonth') {
    const period = limit === 'usdPerDay' ? 'day' : 'month';
    return `${name} has used up its budget of ${max} USD per ${period} (${inUsd(used)} USD so far)`;
  }
  return `${name} has reached its limit of ${amountOf(max, limit)}`;
}

function nameOf({ kind, name }: Gauge['holder']): string {
  return `The ${kind} ${JSON.stringify(name)}`;
}

/** Cents, and smaller amounts with as many digits as needed. */
function inUsd(amount: number): string {
  return amount >= 1 ? amount.toFixed(2) : String(Number(amount.toFixed(6)));
}

/**
 * Max `retry-after` for a retry. SDKs ignore longer ones and retry too early, so they are asked not to retry.
 */
const maxRetrySeconds = 60;

type Shown = Pick<Gauge, 'unit' | 'max' | 'used' | 'resetsInMs'>;

/**
 * Rate-limit headers under the names that SDK users know; of several limits in requests or tokens, the one
 * with the least left. The names are written out: V8 is slow to define computed ones.
 */
export function headersOf(gauges: readonly Shown[]): Readonly<Record<string, string>> {
  const [requests, tokens] = [tightest(gauges, 'requests'), tightest(gauges, 'tokens')];
  return {
    ...(requests && {
      'x-ratelimit-limit-requests': String(requests.max),
      'x-ratelimit-remaining-requests': String(leftOf(requests)),
      'x-ratelimit-reset-requests': duration(requests.resetsInMs),
    }),
    ...(tokens && {
      'x-ratelimit-limit-tokens': String(tokens.max),
      'x-ratelimit-remaining-tokens': String(leftOf(tokens)),
      'x-ratelimit-reset-tokens': duration(tokens.resetsInMs),
    }),
  };
}

function tightest(gauges: readonly Shown[], unit: Shown['unit']): Shown | undefined {
  let found: Shown | undefined;
  for (const gauge of gauges) if (gauge.unit === unit && (!found || isTighter(gauge, found))) found = gauge;
  return found;
}

function isTighter(one: Shown, other: Shown): boolean {
  const difference = leftOf(one) - leftOf(other);
  return difference < 0 || (difference === 0 && one.resetsInMs > other.resetsInMs);
}

function leftOf({ max, used }: Shown): number {
  return Math.max(0, max - used);
}

/** Formats a duration as `1h2m3s`, without leading zero units. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours}h${minutes}m${seconds % 60}s`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds % 60}s`;
}
