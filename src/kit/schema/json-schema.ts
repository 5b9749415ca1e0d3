import { isRecord } from './record.js';

type Json = Readonly<Record<string, unknown>>;

/** Names of the schemas that a document describes once, keyed by the schema object. */
export type SchemaNames = ReadonlyMap<object, string>;

const noNames: SchemaNames = new Map();

/**
 * Standard JSON Schema of one of our schemas: the keyword `unit`, which is our own, becomes words, and
 * anything that is not JSON is left out.
 */
export function plainSchema(schema: object, names: SchemaNames = noNames): Json {
  return plainObject(schema, names);
}

/** Schema of a request body: fields with a default are optional. */
export function requestSchema(schema: object): Json {
  return withOptionalDefaults(plainSchema(schema)) as Json; // the copy of an object is an object
}

/** Schema of a merge patch (RFC 7396): each field of `schema` is optional and may be null. */
export function patchSchema(schema: object): Json {
  return patched(plainSchema(schema)) as Json; // as above
}

/** Reference to a named schema, or else the schema itself. */
export function schemaOrName(schema: object, names: SchemaNames): Json {
  const name = names.get(schema);
  return name === undefined ? plainSchema(schema, names) : { $ref: `#/components/schemas/${name}` };
}

function plain(value: unknown, names: SchemaNames): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each, names));
  return isRecord(value) ? schemaOrName(value, names) : value;
}

function plainObject(value: object, names: SchemaNames): Json {
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined && typeof inner !== 'function')
    .map(([key, inner]) => [key, plain(inner, names)] as const);
  const { unit, patternProperties, ...rest } = Object.fromEntries(entries) as Json & { unit?: unknown };
  return {
    ...(typeof unit === 'string' && unit in units ? units[unit] : unit !== undefined && { unit }),
    ...rest,
    ...mapOf(patternProperties),
  };
}

/** Schema of a map with any keys, in the form that client generators understand. */
function mapOf(patterns: unknown): Json {
  if (!isRecord(patterns)) return {};
  const any = patterns['^.*$'];
  return any === undefined ? { patternProperties: patterns } : { additionalProperties: any };
}

function withOptionalDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOptionalDefaults);
  if (!isRecord(value)) return value;
  const schema = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withOptionalDefaults(inner)]),
  );
  const { required, properties, ...rest } = schema;
  if (!Array.isArray(required) || !isRecord(properties)) return schema;
  const missing = required.filter((name) => !hasDefault(properties[String(name)]));
  return { ...rest, ...(missing.length > 0 && { required: missing }), properties };
}

function hasDefault(schema: unknown): boolean {
  return isRecord(schema) && 'default' in schema;
}

function patched(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { required, default: _, discriminator, properties, oneOf, ...rest } = value;
  const alternatives = Array.isArray(oneOf) && { anyOf: oneOf.map(patched) };
  if (!isRecord(properties)) return { ...rest, ...alternatives };
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, { anyOf: [patched(schema), { type: 'null' }] }] as const,
  );
  return { ...rest, ...alternatives, properties: Object.fromEntries(fields) };
}

const units: Readonly<Record<string, Json>> = {
  duration: { type: 'string', examples: ['500ms', '30s', '1h'] },
  size: { type: ['string', 'integer'], examples: ['512kb', '128mb'] },
  time: { type: ['string', 'integer'], examples: ['2026-01-01T12:00:00Z', 1767268800000] },
};
