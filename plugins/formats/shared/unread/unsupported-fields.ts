import type { Loss } from '@gw2api/gateway/plugin';

/** Fields of the caller's body that Messages cannot express, for the answer header `x-gw-dropped`. */
export class UnsupportedFields {
  /** Takes nothing, for a body whose losses are reported elsewhere. */
  static readonly none = new UnsupportedFields(0);

  readonly #paths = new Map<string, string | Loss>();
  readonly #maxPaths: number;

  constructor(maxPaths = 1000) {
    this.#maxPaths = maxPaths;
  }

  /** True if further fields are dropped, so that the search for them can stop. */
  get isFull(): boolean {
    return this.#paths.size >= this.#maxPaths;
  }

  /**
   * `path` as the caller wrote it: `logprobs`, `tools[2]`; characters invalid in a header list become `?`. Drops those
   * that the header has no room for.
   */
  add(given: string, kind: Loss['kind'] = 'setting'): void {
    if (this.isFull) return;
    const path = given.replaceAll(/[^\x21-\x7e]|,/g, '?');
    if (!this.#paths.has(path)) this.#paths.set(path, kind === 'setting' ? path : { path, kind });
  }

  /** In the order in which they were found; a plain path is that of a setting. */
  get paths(): readonly (string | Loss)[] {
    return [...this.#paths.values()];
  }
}
