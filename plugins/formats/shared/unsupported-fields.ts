import { isRecord } from './body.js';

/** Fields of the caller's body that Messages cannot express, for the answer header `x-gw-dropped`. */
export class UnsupportedFields {
  readonly #paths = new Set<string>();

  /**
   * `path` as the caller wrote it: `logprobs`, `tools[2]`; characters invalid in a header list become `?`.
   */
  add(path: string): void {
    this.#paths.add(path.replaceAll(/[^\x21-\x7e]|,/g, '?'));
  }

  /** Adds every top-level field that is not in `read`, unless its value asks for nothing. */
  addUnread(body: object, read: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(body)) {
      if (!read.has(name) && !asksForNothing(name, value)) this.add(name);
    }
  }

  /** In the order in which they were found. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }
}

/** No-op values, which SDKs and frameworks send with many requests. */
const defaults: Readonly<Record<string, readonly unknown[]>> = {
  background: [false],
  best_of: [1],
  frequency_penalty: [0],
  logprobs: [false],
  presence_penalty: [0],
  service_tier: ['auto', 'default'],
  store: [false],
  top_logprobs: [0],
  truncation: ['disabled'],
};

function asksForNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0 || (name === 'modalities' && value.join() === 'text');
  if (isRecord(value)) return Object.keys(value).length === 0;
  return Object.hasOwn(defaults, name) && (defaults[name]?.includes(value) ?? false);
}
