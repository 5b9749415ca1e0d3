import { GatewayError } from 'gw2api/plugin';

/** Paths within a Messages request that an upstream cannot express. */
export class Dropped {
  readonly #paths = new Set<string>();

  /** `path` as in an error message: `messages[2].content[1]`, `tools[0]`. */
  add(path: string): void {
    this.#paths.add(path.replaceAll(/[^\x21-\x7e]|,/g, '?'));
  }

  /** Paths in the order in which they were found. Throws `invalid_request` if the slot rejects a loss. */
  settle(unsupported: 'report' | 'reject'): readonly string[] {
    const paths = [...this.#paths];
    if (paths.length === 0 || unsupported === 'report') return paths;
    throw new GatewayError('invalid_request', `${paths.join(', ')}: cannot be expressed upstream.`);
  }
}
