import { isRecord } from '../../../kit/schema/record.js';
import { isType, type Schema } from './schema-parts.js';

/** Keywords that Anthropic's strict subset refuses; keywords that JSON Schema does not define constrain nothing and stay. */
const refused: ReadonlySet<string> = new Set(
  (
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength ' +
    'maxItems uniqueItems contains minContains maxContains prefixItems additionalItems unevaluatedItems ' +
    'minProperties maxProperties patternProperties propertyNames unevaluatedProperties ' +
    'dependentRequired dependentSchemas dependencies not if then else $dynamicRef $recursiveRef'
  ).split(' '),
);

const formats: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
);

/** Constraints of one schema that the subset refuses, in the order of the vendor's SDK. */
export function refusedIn(schema: Schema): Readonly<Record<string, unknown>> {
  const rules = Object.entries(schema).filter(([name, value]) => isRefused(name, value));
  const late = ['minItems', 'format'];
  return Object.fromEntries([
    ...rules.filter(([name]) => !late.includes(name)),
    ...late.flatMap((name) => rules.filter(([found]) => found === name)),
  ]);
}

function isRefused(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  switch (name) {
    case 'minItems':
      return value !== 0 && value !== 1;
    case 'format':
      return !formats.has(value);
    case 'pattern':
      return typeof value !== 'string' || /\(\?[=!<]|\\[1-9bB]/.test(value);
    case 'enum':
      return !Array.isArray(value) || value.length === 0 || !value.every(isPrimitive);
    case 'const':
      return !isPrimitive(value);
    case 'items':
      return !isRecord(value) && value !== true;
    default:
      return refused.has(name);
  }
}

/** True if the values of a schema are listed, so that it needs no type. */
export function hasLiterals({ enum: values, const: value }: Schema): boolean {
  return (
    (values !== undefined && !isRefused('enum', values)) ||
    (value !== undefined && !isRefused('const', value))
  );
}

/** Type implied by the keywords of a schema that declares none. */
export function impliedType(schema: Schema): string | undefined {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  return 'items' in schema || 'prefixItems' in schema ? 'array' : undefined;
}

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties'];

/** True if a schema has keywords about objects. */
export function describesObject(schema: Schema): boolean {
  return isType(schema['type'], 'object') || objectKeywords.some((name) => name in schema);
}

/**
 * True for a map: an object with arbitrary property names. The root of a tool without `properties` is not a map: the
 * tool takes no arguments.
 */
export function isMap(
  { properties, additionalProperties: further, patternProperties }: Schema,
  isToolRoot: boolean,
): boolean {
  if (patternProperties !== undefined) return true;
  if (isRecord(further) && Object.keys(further).length > 0) return true;
  const isNamed = isRecord(properties) && (Object.keys(properties).length > 0 || further === undefined);
  return further !== false && !isNamed && !(isToolRoot && further === undefined);
}

/** Names of properties that only a rule of the object adds, which a closed object would lack. */
export function conditionalNames({
  then,
  else: otherwise,
  dependentSchemas,
  dependencies,
}: Schema): readonly string[] {
  const named = [dependentSchemas, dependencies]
    .filter(isRecord)
    .flatMap((schemas) => Object.values(schemas));
  return [then, otherwise, ...named].flatMap((schema) =>
    isRecord(schema) && isRecord(schema['properties']) ? Object.keys(schema['properties']) : [],
  );
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
