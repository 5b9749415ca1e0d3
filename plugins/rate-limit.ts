import {
  definePlugin,
  GatewayError,
  keyLimits,
  ledgerTokens,
  TokenMeters,
  tokenLimits,
  tokenWindow,
  totalTokens,
  Type,
  type Caller,
  type Host,
  type KeyLimits,
  type TokenWindow,
} from 'gw2api/plugin';

/** Rate limits of each key: requests, tokens and concurrent requests, over all instances. */
export default definePlugin({
  name: 'rate-limit',
  api: 1,
  requires: ['caller', 'request'],
  options: Type.Object({
    /** Default for keys without a limit of their own, as the four below; absent: no limit. */
    requestsPerMinute: Type.Optional(Type.Integer({ minimum: 1 })),
    tokensPerMinute: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Per calendar day (UTC). */
    tokensPerDay: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Per calendar month (UTC). */
    tokensPerMonth: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Max concurrent requests of a key. */
    maxConcurrent: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Apply these limits to the master key too. */
    limitMaster: Type.Boolean({ default: false }),
  }),
  setup({ limitMaster, ...given }, host) {
    const defaults = keyLimits(given);
    const limiter = new Limiter(host);
    const limited = host.metrics.counter(
      'gw2api_rate_limited_total',
      'Requests refused because a limit of their key was reached.',
      ['limit'],
    );
    const countRefusal: CountRefusal = (limit) => limited.add({ limit: labels[limit] });
    // Not async: a caller without limits costs nothing.
    return function rateLimit(ctx, next) {
      const { caller, trace, onSettled } = ctx.state;
      const limits = limitsOf(caller, defaults, limitMaster);
      if (!limits) return next();
      const admit = async () => {
        onSettled(await takePermit(host, caller, limits, countRefusal));
        const admission = await limiter.admit(caller, limits);
        const headers = headersOf(admission.gauges);
        ctx.set(headers);
        if (admission.reached) countRefusal(admission.reached);
        if (admission.refusal) throw admission.refusal;
        onSettled(() => limiter.count(admission.windows, totalTokens(ledgerTokens(trace.usage).shown)));
        await next();
        ctx.set(headers); // the caller's own limits, not those of an account that it shares with others
      };
      return admit();
    };
  },
});

type CountRefusal = (limit: keyof KeyLimits) => void;

/** Limits as `gw2api_rate_limited_total` names them. */
const labels: Readonly<Record<keyof KeyLimits, string>> = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  tokensPerDay: 'tokens_per_day',
  tokensPerMonth: 'tokens_per_month',
  maxConcurrent: 'max_concurrent',
};

function limitsOf(
  { kind, limits }: Caller,
  defaults: KeyLimits | undefined,
  limitMaster: boolean,
): KeyLimits | undefined {
  if (kind === 'master') return limitMaster ? defaults : undefined;
  return limits && defaults ? { ...defaults, ...limits } : (limits ?? defaults);
}

/**
 * Takes a permit of the key for one request; returns the function that releases it. Throws `rate_limited` if
 * none is left.
 */
async function takePermit(
  { live: { permits } }: Host,
  { keyId, name }: Caller,
  { maxConcurrent }: KeyLimits,
  countRefusal: CountRefusal,
): Promise<() => void> {
  if (maxConcurrent === undefined) return () => undefined;
  const semaphore = `keys/${keyId}`;
  if (await permits.take(semaphore, maxConcurrent)) return () => permits.release(semaphore);
  countRefusal('maxConcurrent');
  const reached = `The key ${JSON.stringify(name)} has reached its limit of ${amountOf(maxConcurrent, 'maxConcurrent')}`;
  throw new GatewayError('rate_limited', `${reached}; it may go on when one of them has ended.`, {
    headers: { 'retry-after': '1' },
  });
}

/** Current state of one limit of a key. */
interface Gauge {
  readonly limit: keyof KeyLimits;
  readonly max: number;
  readonly used: number;
  readonly resetsInMs: number;
  /** True if the limit is reached. */
  readonly isFull: boolean;
}

interface Admission {
  readonly gauges: readonly Gauge[];
  readonly windows: readonly TokenWindow[];
  readonly refusal?: GatewayError;
  /** Limit that the refusal is for. */
  readonly reached?: keyof KeyLimits;
}

/** Limiter: counts requests on arrival, and tokens at the end, when they are known. */
class Limiter {
  readonly #host: Host;
  readonly #tokens: TokenMeters;

  constructor(host: Host) {
    this.#host = host;
    this.#tokens = new TokenMeters(host);
  }

  /** Checks all limits of a caller; refused requests are not counted. */
  async admit(caller: Caller, limits: KeyLimits): Promise<Admission> {
    const nowMs = this.#host.now();
    const windows = tokenLimits
      .filter((limit) => limits[limit] !== undefined)
      .map((limit) => tokenWindow(limit, caller.keyId, nowMs));
    const tokens = await Promise.all(windows.map((window) => this.#tokenGauge(window, limits[window.limit])));
    const { requestsPerMinute: max } = limits;
    const mayCount = !tokens.some(({ isFull }) => isFull);
    const gauges =
      max === undefined
        ? tokens
        : [
            await this.#requestGauge(
              tokenWindow('requestsPerMinute', caller.keyId, nowMs).meter,
              max,
              mayCount,
            ),
            ...tokens,
          ];
    const last = gauges.filter(({ isFull }) => isFull).toSorted((a, b) => b.resetsInMs - a.resetsInMs)[0];
    return { gauges, windows, ...(last && { refusal: refusalOf(caller, last, nowMs), reached: last.limit }) };
  }

  count(windows: readonly TokenWindow[], tokens: number): void {
    if (tokens === 0) return;
    Promise.all(windows.map((window) => this.#tokens.add(window, tokens))).catch((error: unknown) =>
      this.#host.log.error({ err: error }, 'The tokens of a request could not be counted.'),
    );
  }

  async #tokenGauge(window: TokenWindow, max = Infinity): Promise<Gauge> {
    const { used, resetsInMs } = await this.#tokens.read(window);
    return { limit: window.limit, max, used, resetsInMs, isFull: used >= max };
  }

  async #requestGauge(meter: string, max: number, mayCount: boolean): Promise<Gauge> {
    const { meters } = this.#host.live;
    const gauge = { limit: 'requestsPerMinute', max } as const;
    if (!mayCount) {
      const { used, resetsInMs } = (await meters.read(meter)) ?? { used: 0, resetsInMs: 0 };
      return { ...gauge, used, resetsInMs, isFull: used >= max };
    }
    const { used, resetsInMs, isAllowed } = await meters.take(meter, 1, { limit: max, windowMs: 60_000 });
    return { ...gauge, used, resetsInMs, isFull: !isAllowed };
  }
}

const words: Readonly<Record<keyof KeyLimits, string>> = {
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  tokensPerDay: 'tokens per day',
  tokensPerMonth: 'tokens per month',
  maxConcurrent: 'requests at a time',
};

/** `1 request per minute`, `60 requests per minute`. */
function amountOf(max: number, limit: keyof KeyLimits): string {
  return `${max} ${max === 1 ? words[limit].replace('s ', ' ') : words[limit]}`;
}

/** Error for the limit that resets last: an earlier retry would fail. */
function refusalOf({ name }: Caller, { limit, max, resetsInMs }: Gauge, nowMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(resetsInMs / 1000));
  const opensAtMs = Math.ceil((nowMs + resetsInMs) / 1000) * 1000;
  const opens = new Date(opensAtMs).toISOString().replace('.000Z', 'Z');
  const reached = `The key ${JSON.stringify(name)} has reached its limit of ${amountOf(max, limit)}`;
  return new GatewayError('rate_limited', `${reached}; it may go on in ${seconds} s, at ${opens}.`, {
    headers: {
      'retry-after': String(seconds),
      ...(seconds > maxRetrySeconds && { 'x-should-retry': 'false' }),
    },
  });
}

/**
 * Max `retry-after` for a retry. SDKs ignore longer ones and retry too early, so they are told not to retry.
 */
const maxRetrySeconds = 60;

/**
 * Rate-limit headers under the names that SDK users know; of several token limits, the one with the least
 * left.
 */
export function headersOf(gauges: readonly Pick<Gauge, 'limit' | 'max' | 'used' | 'resetsInMs'>[]) {
  const requests = gauges.find(({ limit }) => limit === 'requestsPerMinute');
  const tokens = gauges
    .filter((gauge) => gauge !== requests)
    .toSorted((a, b) => leftOf(a) - leftOf(b) || b.resetsInMs - a.resetsInMs)[0];
  return { ...(requests && headersFor('requests', requests)), ...(tokens && headersFor('tokens', tokens)) };
}

function headersFor(name: string, gauge: Pick<Gauge, 'max' | 'used' | 'resetsInMs'>) {
  return {
    [`x-ratelimit-limit-${name}`]: String(gauge.max),
    [`x-ratelimit-remaining-${name}`]: String(leftOf(gauge)),
    [`x-ratelimit-reset-${name}`]: duration(gauge.resetsInMs),
  };
}

function leftOf({ max, used }: Pick<Gauge, 'max' | 'used'>): number {
  return Math.max(0, max - used);
}

/** Formats a duration as `1h2m3s`, without leading zero units. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [`${hours}h`, `${minutes}m`, `${seconds % 60}s`];
  return parts.slice(hours > 0 ? 0 : minutes > 0 ? 1 : 2).join('');
}
