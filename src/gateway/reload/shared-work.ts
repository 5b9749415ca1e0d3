/**
 * Single flight: one run at a time, and callers that arrive during it share the next one, which sees all earlier
 * changes.
 */
export class SharedWork<Result> {
  readonly #work: () => Promise<Result>;
  #running: Promise<Result> | undefined;
  #next: Promise<Result> | undefined;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  run(): Promise<Result> {
    if (!this.#running) return this.#start();
    this.#next ??= this.#afterwards(this.#running);
    return this.#next;
  }

  async #afterwards(running: Promise<Result>): Promise<Result> {
    await running.catch(() => undefined); // thrown to its own callers
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<Result> {
    const running = this.#work().finally(() => {
      if (this.#running === running && !this.#next) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
