import type { TSchema } from 'typebox';

/** Copy of a schema with these words, of one line, and with the marks of TypeBox, which are not enumerable. */
export function Described<Schema extends TSchema>(schema: Schema, words: string): Schema {
  const copy: unknown = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  return Object.assign(copy as Schema, { description: words.replaceAll(/\s+/g, ' ') }); // all properties are copied
}
