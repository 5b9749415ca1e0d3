type Schema = Readonly<Record<string, unknown>>;

/** A copy of a JSON Schema in which every object type refuses properties that it does not name. */
export function closeSchema(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([key, value]) => [key, closeKeyword(key, value)] as const);
  const isOpen = isObjectType(schema) && (schema['additionalProperties'] ?? true) === true;
  if (!isOpen && entries.every(([key, value]) => value === schema[key])) return schema;
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) };
}

/** Keywords whose value is a schema or a list of them, and those whose value holds schemas by name. */
const holdsSchemas = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']);
const holdsNamedSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

function closeKeyword(key: string, value: unknown): unknown {
  if (holdsSchemas.has(key)) return Array.isArray(value) ? closeList(value) : closeAny(value);
  return holdsNamedSchemas.has(key) && isSchema(value) ? closeNamed(value) : value;
}

function closeList(schemas: readonly unknown[]): readonly unknown[] {
  const closed = schemas.map(closeAny);
  return closed.every((schema, at) => schema === schemas[at]) ? schemas : closed;
}

function closeNamed(schemas: Schema): Schema {
  const closed = Object.entries(schemas).map(([name, schema]) => [name, closeAny(schema)] as const);
  return closed.every(([name, schema]) => schema === schemas[name]) ? schemas : Object.fromEntries(closed);
}

function closeAny(schema: unknown): unknown {
  return isSchema(schema) ? closeSchema(schema) : schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isObjectType({ type, properties }: Schema): boolean {
  return [type].flat().includes('object') || (type === undefined && properties !== undefined);
}
