import { isRecord } from './body.js';

/**
 * A copy of a JSON Schema in which every object type that says nothing about further properties refuses them, as the
 * upstream wants it of strict schemas. The very same object comes back where nothing was missing.
 */
export function closeSchema(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(schema).map(([key, value]) => [key, closeKeyword(key, value)] as const);
  const isOpen = isObjectType(schema) && schema['additionalProperties'] === undefined;
  if (!isOpen && entries.every(([key, value]) => value === schema[key])) return schema;
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) };
}

/** Keywords whose value is a schema or a list of them, and those whose value holds schemas by name. */
const holdsSchemas = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']);
const holdsNamedSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

function closeKeyword(key: string, value: unknown): unknown {
  if (holdsSchemas.has(key)) return Array.isArray(value) ? closeList(value) : closeAny(value);
  return holdsNamedSchemas.has(key) && isRecord(value) ? closeNamed(value) : value;
}

function closeList(schemas: readonly unknown[]): readonly unknown[] {
  const closed = schemas.map(closeAny);
  return closed.every((schema, at) => schema === schemas[at]) ? schemas : closed;
}

function closeNamed(schemas: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const closed = Object.entries(schemas).map(([name, schema]) => [name, closeAny(schema)] as const);
  return closed.every(([name, schema]) => schema === schemas[name]) ? schemas : Object.fromEntries(closed);
}

function closeAny(schema: unknown): unknown {
  return isRecord(schema) ? closeSchema(schema) : schema;
}

function isObjectType({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return [type].flat().includes('object') || (type === undefined && properties !== undefined);
}
