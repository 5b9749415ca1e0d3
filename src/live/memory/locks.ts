/** Work that goes on one at a time for each name. */
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
