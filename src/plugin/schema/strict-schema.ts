import { isRecord, takeFrom } from './record.js';
import { cutUnsoundRefs } from './schema-refs.js';

type Schema = Readonly<Record<string, unknown>>;
type Draft = Record<string, unknown>;

/** JSON Schema in the subset that the upstream accepts for strict tools and structured outputs. */
export interface StrictSchema {
  readonly schema: Schema;
  /**
   * Keywords that were added, replaced, removed or moved into a description; each once, in the order found.
   */
  readonly changed: readonly string[];
  /**
   * False if the schema needs a map, a recursion or a value of any type, which the subset lacks. `schema` is
   * then still closed, and narrower than requested.
   */
  readonly isExpressible: boolean;
}

/**
 * A copy of a JSON Schema for strict use, by the rules of the vendor's SDK (`lib/transform-json-schema`):
 * constraints that the upstream refuses become part of the description, `oneOf` becomes `anyOf`, and objects
 * are closed.
 */
export function strictSchema(schema: Schema): StrictSchema {
  const copy = new StrictCopy();
  const strict = copy.of(schema, 0);
  const isSound = cutUnsoundRefs(strict);
  if (!isSound) copy.changed.add('$ref');
  return { schema: strict, changed: [...copy.changed], isExpressible: copy.isExpressible && isSound };
}

/** Max nesting depth; deeper schemas are not converted. Real ones have about ten levels. */
const maxDepth = 200;

class StrictCopy {
  readonly changed = new Set<string>();
  isExpressible = true;

  of(given: unknown, depth: number): Draft {
    if (!isRecord(given) || depth > maxDepth) return this.#anything();
    const rest: Draft = { ...given };
    const strict = this.#definitions(rest, depth);
    if (rest['$ref'] !== undefined) return this.#reference(rest, strict);
    takeFrom(rest, '$schema'); // names the dialect
    const literals = takeLiterals(rest);
    const declared = takeFrom(rest, 'type');
    const type = literals ? undefined : (declared ?? impliedType(rest));
    const combined = this.#combined(rest, depth);
    if (!literals && !combined && type === undefined) return this.#anything();
    Object.assign(strict, literals, combined ?? (literals ? {} : { type }));
    for (const name of ['description', 'title'])
      if (typeof rest[name] === 'string') strict[name] = takeFrom(rest, name);
    this.#byType(type, rest, strict, depth);
    return this.#describe(rest, strict);
  }

  #byType(type: unknown, rest: Draft, strict: Draft, depth: number): void {
    if (isType(type, 'object')) this.#object(rest, strict, depth);
    if (isType(type, 'array')) this.#array(rest, strict, depth);
    if (type === 'string') takeFormat(rest, strict);
  }

  #anything(): Draft {
    this.isExpressible = false;
    return {};
  }

  #definitions(rest: Draft, depth: number): Draft {
    const kept: Draft = {};
    for (const name of ['$defs', 'definitions'])
      if (isRecord(rest[name])) kept[name] = this.#named(takeFrom(rest, name), depth);
    return kept;
  }

  /** Keeps the reference alone: the upstream refuses keywords beside it. */
  #reference(rest: Draft, strict: Draft): Draft {
    strict['$ref'] = takeFrom(rest, '$ref');
    this.#report(rest);
    return strict;
  }

  /**
   * Converts `oneOf` to `anyOf`, and an `allOf` with references too, since the upstream refuses it. Only for
   * an `allOf` of a single schema is that equivalent.
   */
  #combined(rest: Draft, depth: number): Draft | undefined {
    const name = ['anyOf', 'oneOf', 'allOf'].find((each) => Array.isArray(rest[each]));
    if (name === undefined) return undefined;
    const schemas = this.#list(takeFrom(rest, name), depth);
    const hasRefs = name === 'allOf' && schemas.some((schema) => '$ref' in schema);
    if (hasRefs && schemas.length > 1) this.isExpressible = false;
    const isAny = name === 'oneOf' || hasRefs;
    if (isAny) this.changed.add(name);
    return { [isAny ? 'anyOf' : name]: schemas };
  }

  #object(rest: Draft, strict: Draft, depth: number): void {
    const { properties, additionalProperties: further } = rest;
    if (isMap(rest, depth)) this.isExpressible = false;
    if (further !== false) this.changed.add('additionalProperties');
    strict['properties'] = isRecord(properties) ? this.#named(properties, depth) : {};
    strict['additionalProperties'] = false;
    takeFrom(rest, 'properties');
    takeFrom(rest, 'additionalProperties');
    const required = takeFrom(rest, 'required');
    if (required !== undefined) strict['required'] = required;
  }

  /**
   * Converts an array schema. A list of item schemas or `items: false` describes a tuple, and goes into the
   * description.
   */
  #array(rest: Draft, strict: Draft, depth: number): void {
    const { items, minItems } = rest;
    if (isRecord(items) || items === true) strict['items'] = this.of(takeFrom(rest, 'items'), depth + 1);
    takeFrom(rest, 'minItems');
    if (minItems === 0 || minItems === 1) strict['minItems'] = minItems;
    else if (minItems !== undefined) rest['minItems'] = minItems;
  }

  /** Moves unsupported constraints into the description, where the model can read them. */
  #describe(rest: Draft, strict: Draft): Draft {
    const constraints = Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    if (constraints.length === 0) return strict;
    this.#report(rest);
    const known = strict['description'];
    strict['description'] =
      `${typeof known === 'string' && known ? `${known}\n\n` : ''}{${constraints.join(', ')}}`;
    return strict;
  }

  #report(rest: Draft): void {
    for (const name in rest) this.changed.add(name);
  }

  #named(schemas: unknown, depth: number): Draft {
    const entries = Object.entries(isRecord(schemas) ? schemas : {});
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.of(schema, depth + 1)]));
  }

  #list(schemas: unknown, depth: number): readonly Draft[] {
    return (Array.isArray(schemas) ? schemas : []).map((schema) => this.of(schema, depth + 1));
  }
}

/**
 * True for a map: an object with arbitrary property names. A root schema without `properties` is none: its
 * tool takes no arguments.
 */
function isMap(
  { properties, additionalProperties: further, patternProperties }: Schema,
  depth: number,
): boolean {
  if (patternProperties !== undefined) return true;
  if (isRecord(further) && Object.keys(further).length > 0) return true;
  const isNamed = isRecord(properties) && (Object.keys(properties).length > 0 || further === undefined);
  return further !== false && !isNamed && !(depth === 0 && further === undefined);
}

/** Takes `enum` and `const` out of `rest`, if they hold only primitive values. */
function takeLiterals(rest: Draft): Draft | undefined {
  const { enum: values, const: value } = rest;
  const isEnum = Array.isArray(values) && values.length > 0 && values.every(isPrimitive);
  const isConst = value !== undefined && isPrimitive(value);
  if (!isEnum && !isConst) return undefined;
  return {
    ...(isEnum && { enum: takeFrom(rest, 'enum') }),
    ...(isConst && { const: takeFrom(rest, 'const') }),
  };
}

const supportedFormats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Takes a supported `format`; an unsupported one stays in `rest` as the last entry, for the description. */
function takeFormat(rest: Draft, strict: Draft): void {
  const format = takeFrom(rest, 'format');
  if (supportedFormats.has(format)) strict['format'] = format;
  else if (format !== undefined) rest['format'] = format;
}

/** Type implied by the keywords of a schema that declares none. */
function impliedType(rest: Schema): string | undefined {
  if ('properties' in rest || 'additionalProperties' in rest) return 'object';
  return 'items' in rest || 'prefixItems' in rest ? 'array' : undefined;
}

function isType(type: unknown, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
