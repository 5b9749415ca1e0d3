/** Runs works one at a time, in the order in which they came; one that fails holds up none after it. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when those that have come until now have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
