import type { Placeholders } from '../../config/environment.js';

/** Values instead of secrets that the environment lacks; remembers what they stood in for. */
export class SecretPlaceholders implements Placeholders {
  readonly #names = new Set<string>();

  variable(name: string): string {
    this.#names.add(name);
    return `placeholder-${name}`;
  }

  file(file: string): string {
    this.#names.add(file);
    return `placeholder-${file}`;
  }

  /** Variables without a value, and files that could not be read. */
  get names(): readonly string[] {
    return [...this.#names];
  }
}
