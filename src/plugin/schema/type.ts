import type { TSchema, Type as TypeBox } from 'typebox';

/** The part of TypeBox's `Type` that gw2api writes its schemas with. */
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
 * TypeBox's types over a builder of our own: TypeBox itself is 373 files, a fifth of what a start costs (200 ms of CPU and
 * 20 MB). What is built is what TypeBox builds, and either takes the other's schemas.
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

/** All keys match the pattern of `keys`; where that schema has none, any key will do. */
function record(keys: TSchema & { pattern?: string }, values: Schema, options?: Schema): object {
  return { type: 'object', patternProperties: { [keys.pattern ?? '^.*$']: values }, ...options };
}

/** The same schema, marked for the object around it; the mark is no part of the JSON. */
function optional(schema: Schema): object {
  const mark = { [optionalMark]: { value: true } };
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...mark });
}

const optionalMark = '~optional';
