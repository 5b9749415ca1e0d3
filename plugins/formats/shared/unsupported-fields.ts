/** Fields of the caller's body that Messages cannot express, for the answer header `x-gw-dropped`. */
export class UnsupportedFields {
  readonly #paths = new Set<string>();

  /**
   * `path` as the caller wrote it: `logprobs`, `tools[2]`; characters invalid in a header list become `?`.
   */
  add(path: string): void {
    this.#paths.add(path.replaceAll(/[^\x21-\x7e]|,/g, '?'));
  }

  /** In the order in which they were found. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }
}
