import type { Caches, MeterReading, Meters } from '../../plugin/internal.js';
import { ExpiringMap } from '../expiring-map.js';
import { MemoryMeters } from '../memory/meters.js';
import type { RedisNames } from './names.js';
import { readMeter, useMeter } from './scripts.js';
import type { RedisSession } from './session.js';

/** Usage of a window counted locally while Redis was down, still to be added in Redis. */
interface Debt {
  /** Initial usage of a window that was opened locally; 0 for other windows. */
  readonly before: number;
  readonly amount: number;
  readonly expiresAtMs: number;
}

type Taken = MeterReading & { readonly isAllowed: boolean };

/**
 * Meters in Redis. While Redis is down they continue locally from the last values read, and the usage is
 * added in Redis later, except for amounts in transit when the connection broke, since those may have
 * arrived.
 */
export class RedisMeters implements Meters {
  readonly #names: RedisNames;
  readonly #now: () => number;
  readonly #alone: MemoryMeters;
  readonly #debts: ExpiringMap<Debt>;
  #session: RedisSession | undefined;

  constructor(names: RedisNames, now: () => number) {
    this.#names = names;
    this.#now = now;
    this.#alone = new MemoryMeters(now);
    this.#debts = new ExpiringMap(now);
  }

  get caches(): Caches {
    return { meters: () => this.#alone.fill, unpaid_meters: () => this.#debts.fill };
  }

  async take(
    meter: string,
    amount: number,
    window: { readonly limit: number; readonly windowMs: number },
  ): Promise<Taken> {
    const isDown = !this.#session;
    const there = await this.#use(meter, amount, window.windowMs, window.limit);
    if (there) return there;
    const taken = await this.#alone.take(meter, amount, window);
    if (taken.isAllowed && isDown)
      this.#owe(meter, { before: 0, amount, expiresAtMs: this.#now() + taken.resetsInMs });
    return taken;
  }

  async add(meter: string, amount: number, windowMs: number): Promise<MeterReading> {
    const isDown = !this.#session;
    const there = await this.#use(meter, amount, windowMs);
    if (there) return { used: there.used, resetsInMs: there.resetsInMs };
    const reading = await this.#alone.add(meter, amount, windowMs);
    if (isDown) this.#owe(meter, { before: 0, amount, expiresAtMs: this.#now() + reading.resetsInMs });
    return reading;
  }

  async read(meter: string): Promise<MeterReading | undefined> {
    const there = await this.#ask((session) => session.run(readMeter, [this.#names.meter(meter)], []));
    if (there === undefined) return this.#alone.read(meter);
    if (there === null) return undefined;
    const [used, resetsInMs] = there as [string, number]; // as the script gives it
    return this.#noted(meter, { used: Number(used), resetsInMs });
  }

  async open(meter: string, used: number, windowMs: number): Promise<void> {
    const there = await this.#ask((session) => this.#openAt(session, meter, used, windowMs));
    if (there !== undefined || (await this.#alone.read(meter))) return;
    await this.#alone.open(meter, used, windowMs);
    this.#owe(meter, { before: used, amount: 0, expiresAtMs: this.#now() + windowMs });
  }

  /** Adds the usage of the outage in Redis; from then on Redis is used again. */
  async join(session: RedisSession): Promise<void> {
    for (let some = this.#someDebts(); some.length > 0; some = this.#someDebts())
      await Promise.all(some.map(([meter, debt]) => this.#pay(session, meter, debt)));
    this.#session = session;
  }

  lose(): void {
    this.#session = undefined;
  }

  async #use(meter: string, amount: number, windowMs: number, limit?: number): Promise<Taken | undefined> {
    const args = [amount, Math.ceil(windowMs), limit ?? ''];
    const there = await this.#ask((session) => session.run(useMeter, [this.#names.meter(meter)], args));
    if (there === undefined) return undefined;
    const [added, used, resetsInMs] = there as [number, string, number]; // as the script gives it
    return { ...this.#noted(meter, { used: Number(used), resetsInMs }), isAllowed: added === 1 };
  }

  /** Queries Redis; undefined while Redis is down. */
  async #ask<Answer>(question: (session: RedisSession) => Promise<Answer>): Promise<Answer | undefined> {
    return this.#session && question(this.#session).catch(() => undefined);
  }

  #noted(meter: string, reading: MeterReading): MeterReading {
    this.#alone.learn(meter, reading);
    return reading;
  }

  #owe(meter: string, debt: Debt): void {
    const owed = this.#debts.unexpired(meter);
    this.#debts.set(meter, owed ? { ...owed, amount: owed.amount + debt.amount } : debt);
  }

  #someDebts(): readonly (readonly [meter: string, debt: Debt])[] {
    return [...this.#debts.entries()].slice(0, maxBatchSize);
  }

  async #pay(session: RedisSession, meter: string, debt: Debt): Promise<void> {
    const { before, amount, expiresAtMs } = debt;
    const leftMs = Math.ceil(expiresAtMs - this.#now());
    this.#debts.delete(meter);
    if (leftMs <= 0) return;
    try {
      if (before > 0) await this.#openAt(session, meter, before, leftMs);
      await session.run(useMeter, [this.#names.meter(meter)], [amount, leftMs, '']);
    } catch (error) {
      this.#owe(meter, debt);
      throw error;
    }
  }

  async #openAt(session: RedisSession, meter: string, used: number, windowMs: number): Promise<true> {
    const key = this.#names.meter(meter);
    await session.ask((redis) => redis.set(key, used, 'PX', Math.ceil(windowMs), 'NX'));
    return true;
  }
}

const maxBatchSize = 100;
