/** Recent times to first token of one slot, by upstream model, as this instance has seen them. */
export class FirstTokenTimes {
  readonly #byModel = new Map<string, Samples>();

  note(model: string, ms: number, nowMs: number): void {
    const known = this.#byModel.get(model);
    if (known) known.add(ms, nowMs);
    else this.#begin(model).add(ms, nowMs);
  }

  /**
   * Median of the last times, milliseconds; halved with each half-life that has passed since the last one, so
   * that a slow slot is tried again. Undefined without any.
   */
  recentMs(model: string, nowMs: number): number | undefined {
    return this.#byModel.get(model)?.decayedMs(nowMs);
  }

  #begin(model: string): Samples {
    const [oldest] = this.#byModel.keys();
    if (this.#byModel.size >= maxModels && oldest !== undefined) this.#byModel.delete(oldest);
    const samples = new Samples();
    this.#byModel.set(model, samples);
    return samples;
  }
}

/** The last times, in the order of their arrival and in that of their length: each answer adds one. */
class Samples {
  readonly #ring: number[] = [];
  readonly #sorted: number[] = [];
  #next = 0;
  #lastMs = 0;

  add(ms: number, nowMs: number): void {
    const replaced = this.#ring[this.#next];
    if (replaced !== undefined) this.#sorted.splice(this.#sorted.indexOf(replaced), 1);
    this.#ring[this.#next] = ms;
    this.#next = (this.#next + 1) % maxSamples;
    const longer = this.#sorted.findIndex((each) => each > ms);
    if (longer < 0) this.#sorted.push(ms);
    else this.#sorted.splice(longer, 0, ms);
    this.#lastMs = nowMs;
  }

  decayedMs(nowMs: number): number {
    const medianMs = this.#sorted[this.#sorted.length >> 1] ?? 0;
    const ageMs = nowMs - this.#lastMs;
    return ageMs < halfLifeMs ? medianMs : medianMs / 2 ** (ageMs / halfLifeMs);
  }
}

const maxModels = 64;
const maxSamples = 9;
const halfLifeMs = 30_000;
