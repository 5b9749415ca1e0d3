import type { Schema } from './schema-parts.js';

/** Changes of a schema for its receiver. */
export class Changes {
  readonly #keywords = new Set<string>();
  #keepsMeaning = true;

  /** A change after which the schema describes the same values: `items: {}`, a renamed key. */
  mend(keyword: string): void {
    this.#keywords.add(keyword);
  }

  /** A constraint that is left out of the schema, or is only in its description. */
  lose(keyword: string): void {
    this.#keywords.add(keyword);
    this.#keepsMeaning = false;
  }

  /** Keywords that were added, replaced or removed; each once, in the order found. */
  get keywords(): readonly string[] {
    return [...this.#keywords];
  }

  get keepsMeaning(): boolean {
    return this.#keepsMeaning;
  }

  /** The schema without some constraints, which go into its description, where the model can read them. */
  inWords(schema: Schema, rules: Readonly<Record<string, unknown>>): Schema {
    const names = Object.keys(rules);
    if (names.length === 0) return schema;
    for (const name of names) this.lose(name);
    const words = names.map((name) => `${name}: ${JSON.stringify(rules[name])}`).join(', ');
    const { description } = schema;
    const known = typeof description === 'string' && description !== '' ? `${description}\n\n` : '';
    return { ...schema, description: `${known}{${words}}` };
  }
}
