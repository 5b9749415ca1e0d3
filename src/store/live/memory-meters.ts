import type { MeterReading, Meters } from '../../plugin/index.js';

interface Meter {
  used: number;
  readonly resetsAtMs: number;
}

/** Amounts used within windows of time, which go when they are over. */
export class MemoryMeters implements Meters {
  readonly #now: () => number;
  readonly #meters = new Map<string, Meter>();
  #sweepAtSize = 1000;

  constructor(now: () => number) {
    this.#now = now;
  }

  async take(
    name: string,
    amount: number,
    { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  ): Promise<MeterReading & { readonly isAllowed: boolean }> {
    const meter = this.#meter(name, windowMs);
    const isAllowed = meter.used + amount <= limit;
    if (isAllowed) meter.used += amount;
    return { ...this.#reading(meter), isAllowed };
  }

  async add(name: string, amount: number, windowMs: number): Promise<MeterReading> {
    const meter = this.#meter(name, windowMs);
    meter.used += amount;
    return this.#reading(meter);
  }

  async read(name: string): Promise<MeterReading | undefined> {
    const meter = this.#open(name);
    return meter && this.#reading(meter);
  }

  async open(name: string, used: number, windowMs: number): Promise<void> {
    if (!this.#open(name)) this.#meter(name, windowMs).used = used;
  }

  /** Takes over what was read elsewhere. */
  learn(name: string, { used, resetsInMs }: MeterReading): void {
    this.#sweep();
    this.#meters.set(name, { used, resetsAtMs: this.#now() + resetsInMs });
  }

  #open(name: string): Meter | undefined {
    const meter = this.#meters.get(name);
    return meter && meter.resetsAtMs > this.#now() ? meter : undefined;
  }

  #meter(name: string, windowMs: number): Meter {
    const open = this.#open(name);
    if (open) return open;
    this.#sweep();
    const meter: Meter = { used: 0, resetsAtMs: this.#now() + windowMs };
    this.#meters.set(name, meter);
    return meter;
  }

  #reading({ used, resetsAtMs }: Meter): MeterReading {
    return { used, resetsInMs: resetsAtMs - this.#now() };
  }

  /** Lets go of windows that are over, whenever there are twice as many as were left the last time. */
  #sweep(): void {
    if (this.#meters.size < this.#sweepAtSize) return;
    const nowMs = this.#now();
    for (const [name, { resetsAtMs }] of this.#meters) if (resetsAtMs <= nowMs) this.#meters.delete(name);
    this.#sweepAtSize = Math.max(1000, this.#meters.size * 2);
  }
}
