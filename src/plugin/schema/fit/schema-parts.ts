import { isRecord } from '../record.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Max nesting depth that is walked; what lies deeper stays as it is. Real schemas have about ten levels. */
export const maxDepth = 200;

/** Keywords that hold schemas by name. */
const named: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords that hold a schema or a list of schemas. */
const held: ReadonlySet<string> = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'prefixItems',
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);

/** The schemas directly in a schema, boolean ones left out; names of properties are not keywords. */
export function* partsOf(schema: Schema): Iterable<Schema> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (named.has(keyword) && isRecord(value)) yield* Object.values(value).filter(isRecord);
    else if (held.has(keyword)) yield* [value].flat().filter(isRecord);
  }
}

/** The schema with each of its direct parts mapped; the given one where none of them changes. */
export function mapParts(schema: Schema, map: (part: Schema) => Schema): Schema {
  let copy: Record<string, unknown> | undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = named.has(keyword)
      ? mapNamed(value, map)
      : held.has(keyword)
        ? mapHeld(value, map)
        : value;
    if (mapped !== value) (copy ??= { ...schema })[keyword] = mapped;
  }
  return copy ?? schema;
}

/**
 * The schema with each of its parts mapped to one that more values fit: a `oneOf` that changes becomes an `anyOf`,
 * and a condition that changes goes.
 */
export function loosenParts(schema: Schema, loosen: (part: Schema) => Schema): Schema {
  const loose = mapParts(schema, loosen);
  const kept = loose['if'] === schema['if'] ? loose : without(loose, ['if', 'then', 'else']);
  if (kept['oneOf'] === schema['oneOf'] || kept['anyOf'] !== undefined) return kept;
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, value]),
  );
}

function mapNamed(value: unknown, map: (part: Schema) => Schema): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([name, part]) => [name, isRecord(part) ? map(part) : part] as const);
  return mapped.every(([, part], at) => part === entries[at]?.[1]) ? value : Object.fromEntries(mapped);
}

function mapHeld(value: unknown, map: (part: Schema) => Schema): unknown {
  if (isRecord(value)) return map(value);
  if (!Array.isArray(value)) return value;
  const mapped = value.map((part: unknown) => (isRecord(part) ? map(part) : part));
  return mapped.every((part, at) => part === value[at]) ? value : mapped;
}

/** The schema without some keywords, the others in their order; the given one where it has none of them. */
export function without(schema: Schema, keywords: readonly string[]): Schema {
  if (!keywords.some((keyword) => keyword in schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

/** True if `type` names the type, alone or in a list. */
export function isType(type: unknown, name: unknown): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

/** Numbers of schemas in schemas, each counted once however often it is held. */
export class SchemaSizes {
  readonly #known = new Map<Schema, number>();

  /** Number of schemas in the text of one. */
  of(schema: Schema, depth = 0): number {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    let size = 1;
    if (depth < maxDepth) for (const part of partsOf(schema)) size += this.of(part, depth + 1);
    this.#known.set(schema, size);
    return size;
  }
}
