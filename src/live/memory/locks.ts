/** Locks within one process: work of the same name runs one at a time. */
export class MemoryLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  async exclusively<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
