import type { Host } from '../contract/host.js';
import type { UsageQuery, UsageSum } from '../contract/ledger.js';
import type { MeterReading, Meters } from '../contract/live.js';
import { totalTokens } from '../events/ledger-tokens.js';
import { growingCache } from '../../kit/growing-cache.js';
import { fromMeter, toMeter, type LimitHolder, type LimitUnit, type LimitWindow } from './limit-window.js';
import { within } from '../../kit/time/within.js';
import { hourMs, minuteMs } from '../../kit/time/clock.js';

/**
 * Use of the limits of keys and teams by window, over all instances; days and months outlast the shared live state, so
 * a missing meter is initialized from the ledger after all instances have written their counted rows. While the other
 * instances are unreachable, their use is read from the ledger.
 */
export class LimitMeters {
  readonly #host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>;
  readonly #openings = new Map<string, Promise<void>>();
  /** Times before which a meter is not raised again (`monotonicMs`). */
  readonly #raised = growingCache<{ readonly untilMs: number }>(maxRaised);

  constructor(host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>) {
    this.#host = host;
  }

  /** Use of a window, in the unit of its limit; synchronous if it is known here. */
  read(window: LimitWindow): MeterReading | Promise<MeterReading> {
    const { live } = this.#host;
    const { meter, period } = window;
    const reading = live.meters.read(meter);
    const isKnown = !(reading instanceof Promise) && (!period || (reading && !live.isDown));
    return isKnown ? this.#inUnit(window, reading) : this.#readAnyhow(window, reading);
  }

  /** As `read`; opens a missing meter. */
  async #readAnyhow(window: LimitWindow, first: ReturnType<Meters['read']>): Promise<MeterReading> {
    const { live } = this.#host;
    const { meter, period } = window;
    let reading = await first;
    if (period && !reading) {
      await this.#open(window, period);
      reading = await live.meters.read(meter);
    } else if (period && live.isDown) reading = (await this.#raise(window, period)) ?? reading;
    return this.#inUnit(window, reading);
  }

  #inUnit({ limit, period }: LimitWindow, reading: MeterReading | undefined): MeterReading {
    const resetsInMs = period ? period.toMs - this.#host.now() : (reading?.resetsInMs ?? 0);
    return { used: fromMeter(limit, reading?.used ?? 0), resetsInMs };
  }

  /**
   * Opens the missing meter of a day or a month for a minute, since other instances may know of more use than the
   * ledger. If the ledger cannot be read, the meter stays missing.
   */
  async restore(window: LimitWindow): Promise<void> {
    const { period, meter } = window;
    if (!period || (await this.#host.live.meters.read(meter))) return;
    await this.#openFromLedger(window, period, minuteMs).catch(() => undefined); // requests log it
  }

  /**
   * Raises an open meter to the total of the ledger, which may have received further rows. Rejects if that is not
   * known.
   */
  async refresh(window: LimitWindow): Promise<void> {
    const { period, meter } = window;
    const { meters } = this.#host.live;
    if (!period || !(await meters.read(meter))) return;
    await meters.raise(meter, await this.#ledgerUse(window, period, true));
  }

  /** Adds the use of a settled request, in the unit of the limit; undefined once it is added. */
  add(window: LimitWindow, amount: number): Promise<void> | undefined {
    const { live, now } = this.#host;
    const { limit, meter, period } = window;
    const metered = toMeter(limit, amount);
    if (period && period.toMs <= now()) return undefined; // no longer needed
    const added = period ? live.meters.addOpened(meter, metered) : live.meters.add(meter, metered, minuteMs);
    return added instanceof Promise || !added ? this.#addAnyhow(window, metered, added) : undefined;
  }

  /**
   * As `add`; opens a missing meter. The ledger gets this request only afterwards, so that a lost meter is not opened
   * with it meanwhile.
   */
  async #addAnyhow(
    window: LimitWindow,
    metered: number,
    first: ReturnType<Meters['addOpened']>,
  ): Promise<void> {
    const { meter, period } = window;
    if ((await first) || !period) return;
    for (let tries = 1; tries < maxTries; tries += 1) {
      await this.#open(window, period);
      if (await this.#host.live.meters.addOpened(meter, metered)) return;
    }
  }

  /** Coalesces concurrent openings of the same meter. */
  #open(window: LimitWindow, period: Period): Promise<void> {
    const { meter } = window;
    const known = this.#openings.get(meter);
    if (known) return known;
    const opening = this.#openAnyhow(window, period).finally(() => this.#openings.delete(meter));
    this.#openings.set(meter, opening);
    return opening;
  }

  /**
   * Starts the meter at the use known to the instances if the ledger cannot be read, so that requests continue; retries
   * the ledger after a minute.
   */
  async #openAnyhow(window: LimitWindow, period: Period): Promise<void> {
    const { live, log } = this.#host;
    const { meter, holder, limit } = window;
    try {
      await this.#openFromLedger(window, period, this.#ttlMs(period));
    } catch (error) {
      const waiting = await this.#ledgerUse(window, period, 'waiting').catch(() => 0);
      await live.meters.open(meter, waiting, minuteMs);
      const used = fromMeter(limit, (await live.meters.read(meter))?.used ?? 0);
      log.warn(
        { err: error, [holder.kind]: holder.id, limit, used },
        'The ledger cannot be read; this limit continues from what the instances know of it.',
      );
    }
  }

  async #openFromLedger(window: LimitWindow, period: Period, ttlMs: number): Promise<void> {
    const used = await this.#ledgerUse(window, period, true);
    await this.#host.live.meters.open(window.meter, used, ttlMs);
  }

  /** Adds the use of other instances since they became unreachable, as far as the ledger shows it. */
  async #raise(window: LimitWindow, period: Period): Promise<MeterReading | undefined> {
    const { live, store, clock } = this.#host;
    const { meter } = window;
    const nowMs = clock.monotonicMs();
    if (store.isDown || nowMs < (this.#raised.get(meter)?.untilMs ?? 0)) return undefined;
    this.#raised.set(meter, { untilMs: nowMs + raiseEveryMs });
    try {
      return await live.meters.raise(meter, await this.#ledgerUse(window, period, true));
    } catch {
      this.#raised.set(meter, { untilMs: nowMs + minuteMs });
      return undefined; // it goes on from what is known here
    }
  }

  #ledgerUse(window: LimitWindow, period: Period, everywhere: true | 'waiting'): Promise<number> {
    const { setTimer } = this.#host.clock;
    return within(this.#usedIn(window, period, everywhere), timeoutMs, silence, setTimer);
  }

  async #usedIn(
    { holder, unit }: LimitWindow,
    { fromMs, toMs }: Period,
    everywhere: true | 'waiting',
  ): Promise<number> {
    const query = { fromMs, toMs, by: null, ...filterOf(holder), stepMs: toMs - fromMs, everywhere };
    const sums = await this.#host.store.ledger.usage(query);
    return sums.reduce((used, sum) => used + amountOf[unit](sum), 0);
  }

  /** Lifetime of a meter: an hour past the end of its window, since clocks of instances differ. */
  #ttlMs({ toMs }: Period): number {
    return toMs - this.#host.now() + hourMs;
  }
}

type Period = NonNullable<LimitWindow['period']>;

function filterOf({ kind, id }: LimitHolder): Pick<UsageQuery, 'keyId' | 'where'> {
  return kind === 'key' ? { keyId: id } : { where: { team: id } };
}

/** Metered use of a limit by the requests of a sum: budgets count the upstream's bill, in nano-USD. */
const amountOf: Readonly<Record<LimitUnit, (sum: UsageSum) => number>> = {
  requests: ({ requests }) => requests,
  tokens: ({ shown }) => totalTokens(shown),
  usd: ({ billedCost }) => billedCost,
};

/** Meters whose raises are remembered. */
const maxRaised = 20_000;

/** Interval of reads of the ledger while the other instances are unreachable. */
const raiseEveryMs = 250;

/** Max openings of a repeatedly lost meter. */
const maxTries = 3;

/** Timeout of a ledger query that a request waits for, the flushes of all instances included. */
const timeoutMs = 1500;
const silence = `The store has not answered within ${timeoutMs} ms.`;
