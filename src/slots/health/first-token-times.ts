/** Recent times to first token of one slot, by upstream model, as this instance has seen them. */
export class FirstTokenTimes {
  readonly #byModel = new Map<string, Samples>();

  note(model: string, ms: number, nowMs: number): void {
    const known = this.#byModel.get(model) ?? new Samples();
    this.#byModel.delete(model);
    this.#byModel.set(model, known);
    known.add(ms, nowMs);
    const [oldest] = this.#byModel.keys();
    if (this.#byModel.size > maxModels && oldest !== undefined) this.#byModel.delete(oldest);
  }

  /**
   * Median of the last times, milliseconds; halved with each half-life that has passed since the last one, so
   * that a slow slot is tried again. Undefined without any.
   */
  recentMs(model: string, nowMs: number): number | undefined {
    return this.#byModel.get(model)?.decayedMs(nowMs);
  }
}

class Samples {
  readonly #ring: number[] = [];
  #next = 0;
  #medianMs = 0;
  #lastMs = 0;

  add(ms: number, nowMs: number): void {
    this.#ring[this.#next] = ms;
    this.#next = (this.#next + 1) % maxSamples;
    this.#lastMs = nowMs;
    this.#medianMs = this.#ring.toSorted((a, b) => a - b)[Math.floor(this.#ring.length / 2)] ?? ms;
  }

  decayedMs(nowMs: number): number {
    const ageMs = nowMs - this.#lastMs;
    return ageMs < halfLifeMs ? this.#medianMs : this.#medianMs / 2 ** (ageMs / halfLifeMs);
  }
}

const maxModels = 64;
const maxSamples = 9;
const halfLifeMs = 30_000;
