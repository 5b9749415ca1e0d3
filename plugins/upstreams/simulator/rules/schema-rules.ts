import { first, isObject } from './shape.js';

type Schema = Readonly<Record<string, unknown>>;

/** Reason why the service refuses a schema to enforce. */
export function strictSchemaProblem(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  return problemWithin(schema) ?? (isRecursive(schema) ? 'Recursive schemas are not supported' : undefined);
}

function problemWithin(schema: Schema): string | undefined {
  const own = first(rules, (rule) => rule(schema, typesOf(schema)));
  return own ?? first(partsOf(schema), problemWithin);
}

type SchemaRule = (schema: Schema, types: readonly unknown[]) => string | undefined;

const rules: readonly SchemaRule[] = [
  ({ $ref: ref }) =>
    typeof ref === 'string' && !ref.startsWith('#') ? `External $ref '${ref}' is not supported` : undefined,
  ({ oneOf }) => (oneOf === undefined ? undefined : "Schema type 'oneOf' is not supported"),
  ({ allOf }) =>
    Array.isArray(allOf) && allOf.some((part) => isObject(part) && '$ref' in part)
      ? "'allOf' with '$ref' is not supported"
      : undefined,
  ({ enum: values }) =>
    Array.isArray(values) && values.some((value) => typeof value === 'object' && value !== null)
      ? "'enum' values must be strings, numbers, booleans or null"
      : undefined,
  ({ additionalProperties: further }, types) => {
    if (!types.includes('object') || further === false) return undefined;
    return isObject(further)
      ? "For 'object' type, 'additionalProperties: object' is not supported. Please set 'additionalProperties' to false"
      : "For 'object' type, 'additionalProperties' must be explicitly set to false";
  },
  ({ minItems }, types) =>
    types.includes('array') && minItems !== undefined && minItems !== 0 && minItems !== 1
      ? `For 'array' type, 'minItems' values other than 0 or 1 are not supported (got: [${JSON.stringify(minItems)}])`
      : undefined,
  ({ format }, types) =>
    types.includes('string') && typeof format === 'string' && !formats.has(format)
      ? `For 'string' type, 'format: ${format}' is not supported`
      : undefined,
  ({ pattern }) =>
    typeof pattern === 'string' && /\(\?[=!<]|\\[1-9bB]/.test(pattern)
      ? `For 'string' type, 'pattern: ${pattern}' is not supported`
      : undefined,
  (schema, types) => first(types, (type) => keywordProblem(schema, String(type))),
];

const formats = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '), // it knows only these
);

const numberLimits = ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'];

const refused: Readonly<Record<string, readonly string[]>> = {
  integer: numberLimits,
  number: numberLimits,
  string: ['maxLength', 'minLength'],
  array: ['contains', 'maxItems', 'prefixItems', 'uniqueItems'],
  object: ['maxProperties', 'minProperties', 'patternProperties', 'propertyNames'],
};

function keywordProblem(schema: Schema, type: string): string | undefined {
  const found = (refused[type] ?? []).filter((name) => name in schema);
  if (found.length === 0) return undefined;
  return found.length === 1
    ? `For '${type}' type, property '${found[0]}' is not supported`
    : `For '${type}' type, properties ${found.join(', ')} are not supported`;
}

function typesOf({ type }: Schema): readonly unknown[] {
  return [type ?? []].flat();
}

/** The nested schemas of this one; the names of properties are not keywords. */
function partsOf(schema: Schema): readonly Schema[] {
  const named = ['properties', '$defs', 'definitions'].map((name) => schema[name]).filter(isObject);
  const listed = ['anyOf', 'oneOf', 'allOf', 'items'].map((name) => schema[name]);
  return [...named.flatMap((schemas) => Object.values(schemas)), ...listed.flat()].filter(isObject);
}

/** True if a reference leads back to a schema that contains it. */
function isRecursive(root: Schema): boolean {
  const valid = new Set<Schema>();
  const above = new Set<Schema>();
  const hasCycle = (schema: Schema): boolean => {
    if (above.has(schema)) return true;
    if (valid.has(schema)) return false;
    above.add(schema);
    const next = [...partsOf(schema), ...[referred(schema, root) ?? []].flat()];
    const found = next.some(hasCycle);
    above.delete(schema);
    if (!found) valid.add(schema);
    return found;
  };
  return hasCycle(root);
}

function referred({ $ref: ref }: Schema, root: Schema): Schema | undefined {
  const found = typeof ref === 'string' ? targetOf(ref, root) : undefined;
  return isObject(found) ? found : undefined;
}

/** Value within `root` that a reference names; undefined if there is none, and for another document. */
export function targetOf(ref: string, root: unknown): unknown {
  if (!ref.startsWith('#')) return undefined;
  const keys = ref.split('/').slice(1).map(decoded);
  return keys.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Schema)[key] : undefined), // lists by index too
    root,
  );
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return key; // a literal percent sign
  }
}
