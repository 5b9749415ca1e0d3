import { SlotReport } from '../slots/report.js';
import { IssuedKey, KeyReport } from '../keys/key-report.js';
import { ExportedRequest, RequestDetail, Tokens, UsageBucket } from '../../operator/schemas.js';
import { PanelSlotReport } from '../slots/slot-report.js';
import type { TSchema } from 'typebox';
import { isRecord } from '../../kit/schema/record.js';

type Json = Readonly<Record<string, unknown>>;

/** Names of the schemas that the document describes once, keyed by the schema object. */
type SchemaNames = ReadonlyMap<object, string>;

const noNames: SchemaNames = new Map();

/**
 * Standard JSON Schema of one of our schemas: the keyword `unit`, which is our own, becomes words, and
 * anything that is not JSON is left out.
 */
function plainSchema(schema: object, names: SchemaNames = noNames): Json {
  return plainObject(schema, names);
}

/** A schema with the names that its keyword `names` stands for as an enumeration. */
export function withNames(schema: Json, known: Readonly<Record<string, readonly string[]>>): Json {
  const { names, pattern: _, minLength: __, maxLength: ___, ...rest } = schema;
  return typeof names === 'string' && known[names] ? { ...rest, enum: known[names] } : schema;
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

/** Schemas with a name: described once in the document, referred to by answers. */
export const schemaNames: SchemaNames = new Map<object, string>([
  [SlotReport, 'Slot'],
  [PanelSlotReport, 'PanelSlot'],
  [KeyReport, 'Key'],
  [IssuedKey, 'IssuedKey'],
  [ExportedRequest, 'Request'],
  [RequestDetail, 'RequestDetail'],
  [UsageBucket, 'UsageBucket'],
  [Tokens, 'Tokens'],
]);

/** The named schemas by name. */
export function namedSchemas(): Readonly<Record<string, unknown>> {
  const entries = [...schemaNames].map(([schema, name]) => [name, plainSchema(schema, schemaNames)] as const);
  return Object.fromEntries(entries);
}

/** Description of a route: words and schemas. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the syntax of the routers: `/v1/models/:id`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: 'open' | 'key' | 'master' | 'admin' | 'panel';
  /** Scope that an admin token needs. */
  readonly scope?: string;
  readonly query?: object;
  /** Request headers by name, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Schemas by status; null: no body. */
  readonly answers: Readonly<Record<number, TSchema | object | null>>;
  /** Content types of the answer; default: JSON only. */
  readonly answerTypes?: readonly string[];
  /** True for a route of browsers, whose errors are pages. */
  readonly hasErrorPages?: true;
}
