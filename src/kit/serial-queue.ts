/**
 * Queue of asynchronous tasks that run one at a time, in the order of their calls; a failure does not stop the later
 * ones.
 */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(task);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when the tasks queued until now have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
