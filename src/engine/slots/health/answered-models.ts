/** Upstream models that a slot has answered lately, as this instance has seen them. */
export class AnsweredModels {
  readonly #lastMs = new Map<string, number>();

  note(model: string, nowMs: number): void {
    if (this.#lastMs.size >= maxModels && !this.#lastMs.has(model)) this.#forgetOldest();
    this.#lastMs.set(model, nowMs);
  }

  /** Models with an answer within the last ten minutes. */
  list(nowMs: number): readonly string[] {
    return [...this.#lastMs].filter(([, atMs]) => nowMs - atMs < keptMs).map(([model]) => model);
  }

  #forgetOldest(): void {
    const [oldest] = [...this.#lastMs].toSorted(([, a], [, b]) => a - b);
    if (oldest) this.#lastMs.delete(oldest[0]);
  }
}

const keptMs = 600_000;
const maxModels = 64;
