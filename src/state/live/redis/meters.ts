import type { Caches, MeterReading, Meters } from '../../../plugin/core.js';
import { ExpiringMap } from '../expiring-map.js';
import { MemoryMeters } from '../memory/meters.js';
import type { RedisNames } from './names.js';
import { addOpened, raiseMeter, readMeter, useMeter } from './scripts.js';
import type { RedisSession } from './session.js';

/** Usage of a window counted locally while Redis was down, still to be added in Redis. */
interface PendingUsage {
  readonly amount: number;
  /** Rest of its window when it was counted; an upper bound, also if the clock steps back. */
  readonly leftMs: number;
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
  readonly #local: MemoryMeters;
  readonly #pending: ExpiringMap<PendingUsage>;
  /** Windows of `open` that were used without Redis: they are closed there when it is back. */
  readonly #opened: ExpiringMap<{ readonly expiresAtMs: number }>;
  #session: RedisSession | undefined;

  constructor(names: RedisNames, now: () => number) {
    this.#names = names;
    this.#now = now;
    this.#local = new MemoryMeters(now);
    this.#pending = new ExpiringMap(now);
    this.#opened = new ExpiringMap(now);
  }

  get caches(): Caches {
    return { meters: () => this.#local.fill, unsent_meters: () => this.#pending.fill };
  }

  async take(
    meter: string,
    amount: number,
    window: { readonly limit: number; readonly windowMs: number },
  ): Promise<Taken> {
    const isDown = !this.#session;
    const there = await this.#use(meter, amount, window.windowMs, window.limit);
    if (there) return there;
    const taken = this.#local.take(meter, amount, window);
    if (taken.isAllowed && isDown) this.#defer(meter, this.#pendingUsage(amount, taken));
    return taken;
  }

  async add(meter: string, amount: number, windowMs: number): Promise<MeterReading> {
    const isDown = !this.#session;
    const there = await this.#use(meter, amount, windowMs);
    if (there) return { used: there.used, resetsInMs: there.resetsInMs };
    const reading = this.#local.add(meter, amount, windowMs);
    if (isDown) this.#defer(meter, this.#pendingUsage(amount, reading));
    return reading;
  }

  async addOpened(meter: string, amount: number): Promise<MeterReading | undefined> {
    const there = await this.#ask((session) => session.run(addOpened, [this.#names.meter(meter)], [amount]));
    if (there !== undefined) return this.#readingOf(meter, there);
    const reading = this.#local.addOpened(meter, amount);
    if (reading) this.#opened.set(meter, { expiresAtMs: this.#now() + reading.resetsInMs });
    return reading;
  }

  async read(meter: string): Promise<MeterReading | undefined> {
    const there = await this.#ask((session) => session.run(readMeter, [this.#names.meter(meter)], []));
    return there === undefined ? this.#local.read(meter) : this.#readingOf(meter, there);
  }

  async raise(meter: string, used: number): Promise<MeterReading | undefined> {
    const there = await this.#ask((session) => session.run(raiseMeter, [this.#names.meter(meter)], [used]));
    return there === undefined ? this.#local.raise(meter, used) : this.#readingOf(meter, there);
  }

  #readingOf(meter: string, there: unknown): MeterReading | undefined {
    if (there === null) return undefined;
    const [used, resetsInMs] = there as [string, number]; // as the scripts give it
    return this.#noted(meter, { used: Number(used), resetsInMs });
  }

  async open(meter: string, used: number, windowMs: number): Promise<void> {
    const there = await this.#ask((session) => this.#openAt(session, meter, used, windowMs));
    if (there !== undefined || this.#local.read(meter)) return;
    await this.#local.open(meter, used, windowMs);
    this.#opened.set(meter, { expiresAtMs: this.#now() + windowMs });
  }

  /** Adds the usage of the outage in Redis, and then uses Redis again. */
  async join(session: RedisSession): Promise<void> {
    for (let some = this.#nextPending(); some.length > 0; some = this.#nextPending())
      await Promise.all(some.map(([meter, usage]) => this.#send(session, meter, usage)));
    await this.#closeOpened(session);
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
    this.#local.learn(meter, reading);
    return reading;
  }

  #pendingUsage(amount: number, { resetsInMs }: MeterReading): PendingUsage {
    return { amount, leftMs: resetsInMs, expiresAtMs: this.#now() + resetsInMs };
  }

  #defer(meter: string, usage: PendingUsage): void {
    const known = this.#pending.unexpired(meter);
    this.#pending.set(meter, known ? { ...known, amount: known.amount + usage.amount } : usage);
  }

  #nextPending(): readonly (readonly [meter: string, usage: PendingUsage])[] {
    return [...this.#pending.entries()].slice(0, maxBatchSize);
  }

  async #send(session: RedisSession, meter: string, usage: PendingUsage): Promise<void> {
    const { amount, expiresAtMs } = usage;
    const leftMs = Math.ceil(Math.min(usage.leftMs, expiresAtMs - this.#now()));
    this.#pending.delete(meter);
    if (leftMs <= 0) return;
    try {
      await session.run(useMeter, [this.#names.meter(meter)], [amount, leftMs, '']);
    } catch (error) {
      this.#defer(meter, usage);
      throw error;
    }
  }

  /** Windows used without Redis, which another instance may or may not have reopened. */
  async #closeOpened(session: RedisSession): Promise<void> {
    const meters = [...this.#opened.entries()].map(([meter]) => meter);
    for (let at = 0; at < meters.length; at += maxBatchSize) {
      const some = meters.slice(at, at + maxBatchSize);
      await session.ask((redis) => redis.del(...some.map((meter) => this.#names.meter(meter))));
      for (const meter of some) {
        this.#opened.delete(meter);
        this.#local.close(meter);
      }
    }
  }

  async #openAt(session: RedisSession, meter: string, used: number, windowMs: number): Promise<true> {
    const key = this.#names.meter(meter);
    await session.ask((redis) => redis.set(key, used, 'PX', Math.ceil(windowMs), 'NX'));
    return true;
  }
}

const maxBatchSize = 100;
