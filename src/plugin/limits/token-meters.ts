import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '../contract/host.js';
import type { TokenLimit } from '../contract/key-limits.js';
import { totalTokens } from '../events/ledger-tokens.js';
import type { MeterReading } from '../contract/live.js';

/** A span of time in which the tokens of one key are counted together. */
export interface TokenWindow {
  readonly limit: TokenLimit;
  readonly keyId: string;
  readonly meter: string;
  /** A calendar day or month, unix milliseconds; absent: a minute, which begins with its first use. */
  readonly period?: { readonly fromMs: number; readonly toMs: number };
}

/** The window that a limit speaks of at a time, unix milliseconds. */
export function tokenWindow(limit: TokenLimit, keyId: string, nowMs: number): TokenWindow {
  const period = periodOf[limit]?.(nowMs);
  const meter = [limit, ...(period ? [period.fromMs] : []), keyId].join(':');
  return { limit, keyId, meter, ...(period && { period }) };
}

const periodOf: Partial<Record<TokenLimit, (nowMs: number) => NonNullable<TokenWindow['period']>>> = {
  tokensPerDay: (nowMs) => {
    const fromMs = Math.floor(nowMs / dayMs) * dayMs;
    return { fromMs, toMs: fromMs + dayMs };
  },
  tokensPerMonth: (nowMs) => {
    const now = new Date(nowMs);
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    return { fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
  },
};

/**
 * What keys have used of their tokens, over all instances. Days and months last longer than what instances share while
 * they run, so that a meter of them which is not open is opened with what the ledger knows.
 */
export class TokenMeters {
  readonly #host: Pick<Host, 'live' | 'store' | 'log' | 'now'>;
  readonly #opening = new Map<string, Promise<void>>();

  constructor(host: Pick<Host, 'live' | 'store' | 'log' | 'now'>) {
    this.#host = host;
  }

  async read(window: TokenWindow): Promise<MeterReading> {
    const { live, now } = this.#host;
    const { meter, period } = window;
    let reading = await live.meters.read(meter);
    if (!period) return reading ?? { used: 0, resetsInMs: 0 };
    if (!reading) {
      await this.#open(window, period);
      reading = await live.meters.read(meter);
    }
    return { used: reading?.used ?? 0, resetsInMs: period.toMs - now() };
  }

  /** Adds what a request has used that has settled. */
  async add(window: TokenWindow, tokens: number): Promise<void> {
    const { live, now } = this.#host;
    const { meter, period } = window;
    if (!period) return void (await live.meters.add(meter, tokens, minuteMs));
    if (period.toMs <= now()) return; // nobody asks for it any more
    // One that has got lost meanwhile is opened with what the ledger knows, and that has these tokens by now.
    if (await live.meters.read(meter)) await live.meters.add(meter, tokens, this.#lastingMs(period));
    else await this.#open(window, period);
  }

  /** Once for all who wait for the same one. */
  #open(window: TokenWindow, period: Period): Promise<void> {
    const opening =
      this.#opening.get(window.meter) ??
      this.#openFromLedger(window, period).finally(() => this.#opening.delete(window.meter));
    this.#opening.set(window.meter, opening);
    return opening;
  }

  /** While the ledger cannot be read, this counts from nothing, and asks it again after a minute. */
  async #openFromLedger({ meter, keyId }: TokenWindow, period: Period): Promise<void> {
    const { live, log } = this.#host;
    try {
      const used = await withPatience(this.#usedIn(period, keyId));
      await live.meters.open(meter, used, this.#lastingMs(period));
    } catch (error) {
      log.warn({ err: error, key: keyId }, 'The ledger cannot be read; the tokens of a key count from now.');
      await live.meters.open(meter, 0, minuteMs);
    }
  }

  async #usedIn({ fromMs, toMs }: Period, keyId: string): Promise<number> {
    const query = { fromMs, toMs, by: null, keyId, stepMs: toMs - fromMs };
    const sums = await this.#host.store.ledger.usage(query);
    return sums.reduce((used, { shown }) => used + totalTokens(shown), 0);
  }

  /** Beyond its end, for instances whose clocks differ. */
  #lastingMs({ toMs }: Period): number {
    return toMs - this.#host.now() + hourMs;
  }
}

type Period = NonNullable<TokenWindow['period']>;

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How long a request waits for a ledger that is silent. */
const patienceMs = 1000;

async function withPatience<Result>(work: Promise<Result>): Promise<Result> {
  const silence = delay(patienceMs, undefined, { ref: false }).then(() => {
    throw new Error(`The store has not answered within ${patienceMs} ms.`);
  });
  return Promise.race([work, silence]);
}
