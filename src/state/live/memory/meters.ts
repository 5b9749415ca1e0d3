import type { CacheStats, MeterReading, Meters } from '../../../plugin/core.js';
import { ExpiringMap } from '../expiring-map.js';

interface Meter {
  used: number;
  expiresAtMs: number;
  readonly windowMs: number;
}

/** Meters of amounts used within time windows; a meter expires with its window. */
export class MemoryMeters implements Meters {
  readonly #now: () => number;
  readonly #meters: ExpiringMap<Meter>;

  constructor(now: () => number) {
    this.#now = now;
    this.#meters = new ExpiringMap(now, maxMeters);
  }

  get fill(): CacheStats {
    return this.#meters.fill;
  }

  take(
    name: string,
    amount: number,
    { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  ): MeterReading & { readonly isAllowed: boolean } {
    const meter = this.#meter(name, windowMs);
    const isAllowed = meter.used + amount <= limit;
    if (isAllowed) meter.used += amount;
    return { ...this.#reading(meter), isAllowed };
  }

  add(name: string, amount: number, windowMs: number): MeterReading {
    const meter = this.#meter(name, windowMs);
    meter.used += amount;
    return this.#reading(meter);
  }

  read(name: string): MeterReading | undefined {
    const meter = this.#open(name);
    return meter && this.#reading(meter);
  }

  addOpened(name: string, amount: number): MeterReading | undefined {
    const meter = this.#open(name);
    if (!meter) return undefined;
    meter.used += amount;
    return this.#reading(meter);
  }

  async raise(name: string, used: number): Promise<MeterReading | undefined> {
    const meter = this.#open(name);
    if (!meter) return undefined;
    meter.used = Math.max(meter.used, used);
    return this.#reading(meter);
  }

  async open(name: string, used: number, windowMs: number): Promise<void> {
    if (!this.#open(name)) this.#meter(name, windowMs).used = used;
  }

  /** Forgets a meter. */
  close(name: string): void {
    this.#meters.delete(name);
  }

  /** Stores a reading from elsewhere. */
  learn(name: string, { used, resetsInMs }: MeterReading): void {
    this.#meters.set(name, { used, expiresAtMs: this.#now() + resetsInMs, windowMs: resetsInMs });
  }

  #meter(name: string, windowMs: number): Meter {
    const open = this.#open(name);
    if (open) return open;
    const meter: Meter = { used: 0, expiresAtMs: this.#now() + windowMs, windowMs };
    this.#meters.set(name, meter);
    return meter;
  }

  /** A meter whose window has not ended; if the clock has stepped back, the window begins now. */
  #open(name: string): Meter | undefined {
    const meter = this.#meters.unexpired(name);
    if (meter) meter.expiresAtMs = Math.min(meter.expiresAtMs, this.#now() + meter.windowMs);
    return meter;
  }

  #reading({ used, expiresAtMs }: Meter): MeterReading {
    return { used, resetsInMs: expiresAtMs - this.#now() };
  }
}

/** Max meters, above the number of all keys with all their limits, and of all logins. */
const maxMeters = 200_000;
