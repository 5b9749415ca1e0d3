import {
  LimitMeters,
  limitWindow,
  windowLimits,
  type GatewayError,
  type Host,
  type KeyLimits,
  type LimitWindow,
  type Trace,
} from '@gw2api/gateway/plugin';
import { lastToReset, refusalOf, tooManyAnswers, tooManyAtOnce, type Gauge } from './limit-answers.js';

/** A key or a team, with its limits. */
export interface LimitedHolder {
  readonly kind: 'key' | 'team';
  readonly id: string;
  readonly name: string;
  readonly limits: KeyLimits;
}

/** Window of a limit that a request counts in. */
interface Counted {
  readonly holder: LimitedHolder;
  readonly window: LimitWindow;
  readonly max: number;
}

/** Decision about a request. */
export interface Admission {
  readonly gauges: readonly Gauge[];
  /** Windows in which tokens and cost count once they are known. */
  readonly counted: readonly Counted[];
  readonly refusal?: GatewayError;
}

type Reading = Awaited<ReturnType<LimitMeters['read']>>;

/** Use of limits by one settled request. */
interface Spent {
  /** As shown to the caller. */
  readonly tokens: number;
  /** As billed by the upstream. */
  readonly cost: Trace['cost'];
}

/** Counts requests on arrival, and their tokens and cost at the end, when these are known. */
export class Limiter {
  readonly #host: Host;
  readonly #meters: LimitMeters;
  readonly #countRefusal: (limit: keyof KeyLimits) => void;

  constructor(host: Host) {
    this.#host = host;
    this.#meters = new LimitMeters(host);
    const limited = host.metrics.counter(
      'gw2api_rate_limited_total',
      'Requests refused because a limit or budget of their key or team was reached.',
      ['limit'],
    );
    this.#countRefusal = (limit) => limited.add({ limit: labelOf(limit) });
  }

  /**
   * Takes permits of a key or team for one request, one for each of its answers; returns the function that releases
   * them. Throws `rate_limited` if too few are left.
   */
  async takePermits(holder: LimitedHolder, answers: number): Promise<() => void> {
    const { maxConcurrent } = holder.limits;
    if (maxConcurrent === undefined) return () => undefined;
    const { permits } = this.#host.live;
    const semaphore = `${holder.kind}s/${holder.id}`;
    let taken = 0;
    const release = (): void => {
      for (; taken > 0; taken -= 1) permits.release(semaphore);
    };
    if (answers <= maxConcurrent)
      while (taken < answers && (await permits.take(semaphore, maxConcurrent))) taken += 1;
    if (taken === answers) return release;
    release();
    this.#countRefusal('maxConcurrent');
    throw answers > maxConcurrent
      ? tooManyAnswers(holder, maxConcurrent, answers)
      : tooManyAtOnce(holder, maxConcurrent);
  }

  /** Counts a token count in separate meters, of the size of those of requests; false if one of them is full. */
  async mayCount(holders: readonly LimitedHolder[]): Promise<boolean> {
    const nowMs = this.#host.now();
    const requests = holders
      .flatMap((holder) => countedBy(holder, nowMs))
      .filter(({ window }) => window.unit === 'requests');
    const counts = requests.map((each) => ({
      ...each,
      window: { ...each.window, meter: `${each.window.meter}/counts` },
    }));
    return !(await this.#countRequest(counts)).some(({ isFull }) => isFull);
  }

  /** Checks all limits, each of which must permit the request; refused requests are not counted. */
  async admit(holders: readonly LimitedHolder[]): Promise<Admission> {
    const nowMs = this.#host.now();
    const all = holders.flatMap((holder) => countedBy(holder, nowMs));
    const counted = all.filter(({ window }) => window.unit !== 'requests');
    const requests = all.filter(({ window }) => window.unit === 'requests');
    const known = await allOf(counted.map((each) => this.#gauge(each)));
    const isRefused = known.some(({ isFull }) => isFull);
    const arrived = isRefused
      ? await allOf(requests.map((each) => this.#gauge(each)))
      : await this.#countRequest(requests);
    const gauges = [...arrived, ...known];
    const last = lastToReset(gauges);
    if (!last) return { gauges, counted };
    this.#countRefusal(last.limit);
    return { gauges, counted, refusal: refusalOf(last, nowMs) };
  }

  /**
   * Counts the use of a settled request, also of a failed or abandoned one. To be called before its row is written, or
   * a meter filled from the ledger counts it twice.
   */
  async count(counted: readonly Counted[], { tokens, cost }: Spent): Promise<void> {
    const { log } = this.#host;
    const hasBudget = counted.some(({ window }) => window.unit === 'usd');
    if (hasBudget && tokens > 0 && cost?.isComplete !== true)
      log.error({}, 'A request of a key with a budget has an unknown cost, which the budget does not count.');
    // A cost that is known in part only is in no sum of the ledger, from which a budget may be read again.
    const usd = (cost?.isComplete === true ? cost.billed : 0) / nanoPerUsd;
    try {
      await allOf(
        counted.map(({ window }) => {
          const amount = window.unit === 'usd' ? usd : tokens;
          return amount > 0 ? this.#meters.add(window, amount) : undefined;
        }),
      );
    } catch (error) {
      log.error({ err: error }, 'The use of a request could not be counted.');
    }
  }

  #gauge(counted: Counted): Gauge | Promise<Gauge> {
    const reading = this.#meters.read(counted.window);
    return reading instanceof Promise
      ? reading.then((read) => gaugeOf(counted, read))
      : gaugeOf(counted, reading);
  }

  /** Counts the request for each, or for none if one of them is exhausted. */
  async #countRequest(requests: readonly Counted[]): Promise<readonly Gauge[]> {
    const gauges = await allOf(requests.map((each) => this.#take(each)));
    if (!gauges.some(({ isFull }) => isFull)) return gauges;
    return Promise.all(gauges.map(async (gauge, at) => this.#giveBack(gauge, requests[at])));
  }

  /** Undoes the count of a request, unless its window has ended: another one resets later. */
  async #giveBack(gauge: Gauge, counted: Counted | undefined): Promise<Gauge> {
    if (gauge.isFull || !counted) return gauge;
    const { meters } = this.#host.live;
    const { meter } = counted.window;
    const left = await meters.add(meter, -1, minuteMs);
    const { used, resetsInMs } =
      left.resetsInMs > gauge.resetsInMs ? await meters.add(meter, 1, minuteMs) : left;
    return { ...gauge, used, resetsInMs };
  }

  #take(counted: Counted): Gauge | Promise<Gauge> {
    const { window, max } = counted;
    const { meters } = this.#host.live;
    const taken = meters.take(window.meter, 1, { limit: max, windowMs: minuteMs });
    return taken instanceof Promise
      ? taken.then((take) => gaugeOf(counted, take, !take.isAllowed))
      : gaugeOf(counted, taken, !taken.isAllowed);
  }
}

function gaugeOf(
  { holder, window: { limit, unit }, max }: Counted,
  { used, resetsInMs }: Reading,
  isFull = used >= max,
): Gauge {
  return { holder, limit, unit, max, used, resetsInMs, isFull };
}

/** The values, synchronously if none has to be awaited. */
function allOf<Value>(values: readonly (Value | Promise<Value>)[]): readonly Value[] | Promise<Value[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as Value[]); // none is a promise
}

function countedBy(holder: LimitedHolder, nowMs: number): readonly Counted[] {
  const counted: Counted[] = [];
  for (const limit of windowLimits) {
    const max = holder.limits[limit];
    if (max !== undefined) counted.push({ holder, window: limitWindow(limit, holder, nowMs), max });
  }
  return counted;
}

/** Limit as the metric names it: `requests_per_minute`. */
function labelOf(limit: keyof KeyLimits): string {
  return limit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const minuteMs = 60_000;
const nanoPerUsd = 1e9;
