import { targetOf } from './pointers.js';
import { isRecord } from '../../../kit/schema/record.js';
import { isType, maxDepth, partsOf, type Schema } from './schema-parts.js';

const maxProperties = 5000;
const maxEnumValues = 1000;
const maxNameCharacters = 120_000;
const maxObjectLevels = 10;

/**
 * True if a schema is in the subset that OpenAI can enforce:
 * https://platform.openai.com/docs/guides/structured-outputs.
 */
export function isOpenAiStrict(root: Schema): boolean {
  if (root['type'] !== 'object' || root['anyOf'] !== undefined) return false;
  return new Check(root).accepts(root, 0, 0);
}

const refused: readonly string[] =
  'allOf oneOf not if then else dependentRequired dependentSchemas dependencies patternProperties unevaluatedProperties unevaluatedItems propertyNames minProperties maxProperties contains uniqueItems prefixItems additionalItems default'.split(
    ' ',
  );

const besideRef: ReadonlySet<string> = new Set('$ref $defs definitions description title'.split(' '));

const formats: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '),
);

class Check {
  readonly #root: Schema;
  #properties = 0;
  #enumValues = 0;
  #characters = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** `level`: number of objects around the schema. */
  accepts(schema: Schema, level: number, depth: number): boolean {
    if (depth > maxDepth) return false;
    const isObject = isType(schema['type'], 'object');
    const inner = isObject ? level + 1 : level;
    if (inner > maxObjectLevels || refused.some((keyword) => schema[keyword] !== undefined)) return false;
    if (!this.#isTyped(schema) || !hasParts(schema) || !hasKnownTexts(schema)) return false;
    if (isObject && !isClosed(schema)) return false;
    if (isType(schema['type'], 'array') && !isRecord(schema['items'])) return false;
    return (
      this.#hasRoom(schema) && [...partsOf(schema)].every((part) => this.accepts(part, inner, depth + 1))
    );
  }

  #isTyped(schema: Schema): boolean {
    const { $ref, type, anyOf } = schema;
    if ($ref === undefined) return type !== undefined || anyOf !== undefined;
    const isAlone = Object.keys(schema).every((keyword) => besideRef.has(keyword));
    return isAlone && isRecord(targetOf($ref, this.#root));
  }

  #hasRoom({ properties, enum: values }: Schema): boolean {
    const names = isRecord(properties) ? Object.keys(properties) : [];
    const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
    this.#properties += names.length;
    this.#enumValues += Array.isArray(values) ? values.length : 0;
    for (const text of [...names, ...texts]) this.#characters += text.length;
    return (
      this.#properties <= maxProperties &&
      this.#enumValues <= maxEnumValues &&
      this.#characters <= maxNameCharacters
    );
  }
}

/** True if every nested schema is an object: the values `true` and `false` are refused. */
function hasParts({ properties, $defs, definitions, anyOf, items }: Schema): boolean {
  const named = [properties, $defs, definitions]
    .filter(isRecord)
    .flatMap((schemas) => Object.values(schemas));
  const listed = Array.isArray(anyOf) ? anyOf : [];
  return [...named, ...listed, ...(items === undefined ? [] : [items])].every(isRecord);
}

function isClosed({ properties, required, additionalProperties }: Schema): boolean {
  if (!isRecord(properties) || additionalProperties !== false) return false;
  const names = Object.keys(properties);
  const demanded = new Set(Array.isArray(required) ? required : []);
  return demanded.size === names.length && names.every((name) => demanded.has(name));
}

function hasKnownTexts({ format, pattern }: Schema): boolean {
  if (format !== undefined && !formats.has(format)) return false;
  return typeof pattern !== 'string' || !/\(\?[=!<]/.test(pattern);
}
