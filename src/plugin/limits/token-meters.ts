import type { Host } from '../contract/host.js';
import type { TokenLimit, WindowLimit } from '../contract/key-limits.js';
import { totalTokens } from '../events/ledger-tokens.js';
import type { MeterReading } from '../contract/live.js';
import { within } from './within.js';

/** Time window in which the tokens of one key are counted, or its requests. */
export interface TokenWindow<Limit extends WindowLimit = TokenLimit> {
  readonly limit: Limit;
  readonly keyId: string;
  readonly meter: string;
  /** A calendar day or month, unix milliseconds; absent: a minute, which begins with its first use. */
  readonly period?: { readonly fromMs: number; readonly toMs: number };
}

/** The current window of a limit. `nowMs`: unix milliseconds. */
export function tokenWindow(limit: TokenLimit, keyId: string, nowMs: number): TokenWindow;
export function tokenWindow(limit: WindowLimit, keyId: string, nowMs: number): TokenWindow<WindowLimit>;
export function tokenWindow(limit: WindowLimit, keyId: string, nowMs: number): TokenWindow<WindowLimit> {
  const period = periodOf[limit]?.(nowMs);
  const meter = [limit, ...(period ? [period.fromMs] : []), keyId].join(':');
  return { limit, keyId, meter, ...(period && { period }) };
}

const periodOf: Partial<Record<WindowLimit, (nowMs: number) => NonNullable<TokenWindow['period']>>> = {
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
 * Token usage per key and window, over all instances. Days and months outlast the shared live state, so a
 * missing meter is initialized from the ledger.
 */
export class TokenMeters {
  readonly #host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>;
  readonly #opening = new Map<string, Promise<void>>();

  constructor(host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>) {
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

  /** Adds the tokens of a settled request. */
  async add(window: TokenWindow, tokens: number): Promise<void> {
    const { live, now } = this.#host;
    const { meter, period } = window;
    if (!period) return void (await live.meters.add(meter, tokens, minuteMs));
    if (period.toMs <= now()) return; // no longer needed
    // A lost meter is opened again from the ledger, which already has these tokens.
    if (await live.meters.read(meter)) await live.meters.add(meter, tokens, this.#ttlMs(period));
    else await this.#open(window, period);
  }

  /** Coalesces concurrent openings of the same meter. */
  #open(window: TokenWindow, period: Period): Promise<void> {
    const opening =
      this.#opening.get(window.meter) ??
      this.#openFromLedger(window, period).finally(() => this.#opening.delete(window.meter));
    this.#opening.set(window.meter, opening);
    return opening;
  }

  /**
   * If the ledger cannot be read, the meter starts at zero and is read from the ledger again after a minute.
   */
  async #openFromLedger({ meter, keyId }: TokenWindow, period: Period): Promise<void> {
    const { live, log, clock } = this.#host;
    try {
      const used = await within(this.#usedIn(period, keyId), timeoutMs, silence, clock.setTimer);
      await live.meters.open(meter, used, this.#ttlMs(period));
    } catch (error) {
      log.warn(
        { err: error, key: keyId },
        'The ledger cannot be read; token limits of this key count from now.',
      );
      await live.meters.open(meter, 0, minuteMs);
    }
  }

  async #usedIn({ fromMs, toMs }: Period, keyId: string): Promise<number> {
    const query = { fromMs, toMs, by: null, keyId, stepMs: toMs - fromMs };
    const sums = await this.#host.store.ledger.usage(query);
    return sums.reduce((used, { shown }) => used + totalTokens(shown), 0);
  }

  /** Lifetime of a meter: an hour past the end of its window, since clocks of instances differ. */
  #ttlMs({ toMs }: Period): number {
    return toMs - this.#host.now() + hourMs;
  }
}

type Period = NonNullable<TokenWindow['period']>;

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Timeout of a ledger query that a request waits for. */
const timeoutMs = 1000;
const silence = `The store has not answered within ${timeoutMs} ms.`;
