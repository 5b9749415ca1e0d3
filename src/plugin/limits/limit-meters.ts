import type { Host } from '../contract/host.js';
import type { UsageQuery, UsageSum } from '../contract/ledger.js';
import type { MeterReading } from '../contract/live.js';
import { totalTokens } from '../events/ledger-tokens.js';
import { fromMeter, toMeter, type LimitHolder, type LimitUnit, type LimitWindow } from './limit-window.js';
import { within } from './within.js';

/**
 * Use of the limits of keys and teams by window, over all instances. Days and months outlast the shared live
 * state, so a missing meter is initialized from the ledger: all instances write first what they have added to a
 * meter, and write nothing that they have yet to add.
 */
export class LimitMeters {
  readonly #host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>;
  readonly #openings = new Map<string, Promise<void>>();

  constructor(host: Pick<Host, 'live' | 'store' | 'log' | 'now' | 'clock'>) {
    this.#host = host;
  }

  /** Use of a window, in the unit of its limit. */
  async read(window: LimitWindow): Promise<MeterReading> {
    const { live, now } = this.#host;
    const { limit, meter, period } = window;
    let reading = await live.meters.read(meter);
    if (period && !reading) {
      await this.#open(window, period);
      reading = await live.meters.read(meter);
    }
    const resetsInMs = period ? period.toMs - now() : (reading?.resetsInMs ?? 0);
    return { used: fromMeter(limit, reading?.used ?? 0), resetsInMs };
  }

  /** Adds the use of a settled request, in the unit of the limit. */
  async add(window: LimitWindow, amount: number): Promise<void> {
    const { live, now } = this.#host;
    const { limit, meter, period } = window;
    const metered = toMeter(limit, amount);
    if (!period) return void (await live.meters.add(meter, metered, minuteMs));
    if (period.toMs <= now()) return; // no longer needed
    // The ledger gets this request once it is added: it is in no sum that a lost meter is opened with meanwhile.
    for (let tries = 0; tries < maxTries; tries += 1) {
      if (await live.meters.addOpened(meter, metered)) return;
      await this.#open(window, period);
    }
  }

  /** Coalesces concurrent openings of the same meter. */
  #open(window: LimitWindow, period: Period): Promise<void> {
    const { meter } = window;
    const known = this.#openings.get(meter);
    if (known) return known;
    const opening = this.#openFromLedger(window, period).finally(() => this.#openings.delete(meter));
    this.#openings.set(meter, opening);
    return opening;
  }

  /**
   * If the ledger cannot be read, the meter starts at zero and is read from the ledger again after a minute.
   */
  async #openFromLedger(window: LimitWindow, period: Period): Promise<void> {
    const { live, log, clock } = this.#host;
    const { meter, holder } = window;
    try {
      const used = await within(this.#usedIn(window, period), timeoutMs, silence, clock.setTimer);
      await live.meters.open(meter, used, this.#ttlMs(period));
    } catch (error) {
      log.warn(
        { err: error, [holder.kind]: holder.id, limit: window.limit },
        'The ledger cannot be read; this limit counts from now.',
      );
      await live.meters.open(meter, 0, minuteMs);
    }
  }

  async #usedIn({ holder, unit }: LimitWindow, { fromMs, toMs }: Period): Promise<number> {
    const query = { fromMs, toMs, by: null, ...filterOf(holder), stepMs: toMs - fromMs, everywhere: true };
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

/** Metered use of a limit by the requests of a sum: budgets count what the upstream bills, in nano-USD. */
const amountOf: Readonly<Record<LimitUnit, (sum: UsageSum) => number>> = {
  requests: ({ requests }) => requests,
  tokens: ({ shown }) => totalTokens(shown),
  usd: ({ billedCost }) => billedCost,
};

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Max openings of a meter that is lost again and again. */
const maxTries = 3;

/** Timeout of a ledger query that a request waits for, the flushes of all instances included. */
const timeoutMs = 1500;
const silence = `The store has not answered within ${timeoutMs} ms.`;
