/** Paths within a Messages request that Chat Completions, or this server, cannot express. */
export class Dropped {
  readonly #paths = new Set<string>();

  /** `path` as in an error message: `messages[2].content[1]`, `tools[0]`. */
  add(path: string): void {
    this.#paths.add(path.replaceAll(/[^\x21-\x7e]|,/g, '?'));
  }

  /** In the order in which they were found. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }
}
