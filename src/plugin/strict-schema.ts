type Schema = Readonly<Record<string, unknown>>;

/**
 * A JSON Schema as a strict tool must have it: `additionalProperties: false` on every object in it, all the way down
 * (wire-notes §3). An object that names a schema for its further properties keeps it: closing it would empty it.
 */
export function strictSchema(schema: Schema): Schema {
  const strict = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, descend(keyword, value)]),
  );
  const open = strict['additionalProperties'] ?? true;
  return isObjectType(schema) && open === true ? { ...strict, additionalProperties: false } : strict;
}

function descend(keyword: string, value: unknown): unknown {
  return Object.hasOwn(within, keyword) ? within[keyword]?.(value) : value;
}

/** Where a schema holds further schemas: as one, as a list, or under names. */
const within: Readonly<Record<string, (value: unknown) => unknown>> = {
  items: each,
  anyOf: each,
  allOf: each,
  oneOf: each,
  prefixItems: each,
  properties: named,
  patternProperties: named,
  dependentSchemas: named,
  $defs: named,
  definitions: named,
};

function each(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(each);
  return isSchema(value) ? strictSchema(value) : value;
}

function named(value: unknown): unknown {
  if (!isSchema(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, each(schema)]));
}

function isObjectType({ type, properties }: Schema): boolean {
  return [type].flat().includes('object') || properties !== undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
