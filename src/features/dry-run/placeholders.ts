import type { Placeholders } from '../../config/environment.js';

/** Placeholders for missing secrets of the environment; remembers their names. */
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

  /** Variables without a value, and unreadable files. */
  get names(): readonly string[] {
    return [...this.#names];
  }
}
