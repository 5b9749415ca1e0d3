import type { TSchema, Type as TypeBox } from 'typebox';

/** Subset of TypeBox's `Type` that gw2api uses for its schemas. */
type SchemaBuilder = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

type Schema = Readonly<Record<string, unknown>>;

/**
 * TypeBox's types over a builder of our own, because loading TypeBox (373 files) slows every start. Builds
 * the same schemas as TypeBox; each accepts those of the other.
 */
export const Type = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: [...values], ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: object,
  Optional: optional,
  Record: record,
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf: [...anyOf], ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
} as unknown as SchemaBuilder; // TypeBox's types name what only they know of; a test compares what is built

function object(properties: Readonly<Record<string, Schema>>, options?: Schema): object {
  const required = Object.keys(properties).filter((name) => !properties[name]?.[optionalMark]);
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** Record schema: keys match the pattern of `keys`, or are arbitrary if it has none. */
function record(keys: TSchema & { pattern?: string }, values: Schema, options?: Schema): object {
  return { type: 'object', patternProperties: { [keys.pattern ?? '^.*$']: values }, ...options };
}

/**
 * Copy of a schema, marked as optional for the object around it. The mark is not enumerable, so it is not
 * part of the JSON.
 */
function optional(schema: Schema): object {
  const mark = { [optionalMark]: { value: true } };
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...mark });
}

const optionalMark = '~optional';
