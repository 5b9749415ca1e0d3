import { strictSchemaProblem } from '#plugins/upstreams/simulator/rules/schema-rules.js';

export type Schema = Readonly<Record<string, unknown>>;

/** The reasons for which OpenAI refuses the parameters of a function. */
export function openAiProblems(root: Schema): readonly string[] {
  const problems: string[] = [];
  if (root['type'] !== 'object') problems.push('type of the root');
  if (!isObject(root['properties'])) problems.push('properties of the root');
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'])
    if (keyword in root) problems.push(`${keyword} of the root`);
  for (const schema of allSchemas(root)) {
    if (typesOf(schema).includes('array') && !('items' in schema) && !('prefixItems' in schema))
      problems.push('array without items');
    if ('$ref' in schema && resolve(root, schema['$ref']) === undefined)
      problems.push('reference to nothing');
  }
  return problems;
}

/** The reasons for which OpenAI refuses a schema that it is to hold the model to. */
export function openAiStrictProblems(root: Schema): readonly string[] {
  const problems: string[] = [];
  for (const schema of allSchemas(root)) {
    for (const keyword of 'oneOf allOf not if default uniqueItems patternProperties dependentRequired'.split(
      ' ',
    ))
      if (keyword in schema) problems.push(keyword);
    if (!['type', 'anyOf', '$ref'].some((keyword) => keyword in schema)) problems.push('no type');
    if (!typesOf(schema).includes('object')) continue;
    const names = Object.keys(Object(schema['properties']) as object);
    const required = [...new Set((schema['required'] ?? []) as readonly string[])];
    if (schema['additionalProperties'] !== false) problems.push('open object');
    if (names.toSorted().join() !== required.toSorted().join()) problems.push('optional property');
  }
  return problems;
}

/** The reasons for which Anthropic refuses the input schema of a tool. */
export function anthropicProblems(root: Schema, { isStrict = false } = {}): readonly string[] {
  const problems: string[] = [];
  if (root['type'] !== 'object') problems.push('type of the root');
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    if (keyword in root) problems.push(`${keyword} of the root`);
  for (const key of Object.keys(Object(root['properties']) as object))
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) problems.push(`key ${key}`);
  const strict = isStrict ? strictSchemaProblem(root) : undefined;
  return strict === undefined ? problems : [...problems, strict];
}

/** All schemas in one, itself first. */
export function* allSchemas(schema: Schema): Iterable<Schema> {
  yield schema;
  for (const name of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
    if (isObject(schema[name])) for (const part of Object.values(schema[name])) yield* within(part);
  for (const name of 'anyOf oneOf allOf prefixItems items not if then else additionalProperties contains'.split(
    ' ',
  ))
    yield* within(schema[name]);
}

function* within(value: unknown): Iterable<Schema> {
  for (const part of [value].flat()) if (isObject(part)) yield* allSchemas(part);
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typesOf({ type }: Schema): readonly unknown[] {
  return [type].flat();
}

function resolve(root: Schema, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  return ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root);
}
