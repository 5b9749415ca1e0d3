import { Type, type TSchema } from 'typebox';

/** Copy of a schema with this one-line description, and with the marks of TypeBox, which are not enumerable. */
export function Described<Schema extends TSchema>(schema: Schema, words: string): Schema {
  const copy: unknown = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  return Object.assign(copy as Schema, { description: words.replaceAll(/\s+/g, ' ') }); // all properties are copied
}

/** An object schema that refuses properties that it does not name. */
export function Closed<Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: object = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Copy of a JSON Schema in which every object type refuses properties that it does not name. */
export function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closeObjects(value)]));
  const isOpen = closed['type'] === 'object' && 'properties' in closed && !('additionalProperties' in closed);
  return isOpen ? { ...closed, additionalProperties: false } : closed;
}
