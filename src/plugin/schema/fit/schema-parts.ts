import { isRecord } from '../../../kit/schema/record.js';

export type Schema = Readonly<Record<string, unknown>>;

/** Max nesting depth that is walked; deeper parts stay unchanged. Real schemas have about ten levels. */
export const maxDepth = 200;

/** Keywords that hold schemas by name. */
const named: readonly string[] = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
];

/** Keywords that hold a schema or a list of schemas. */
const held: readonly string[] = [
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
];

type Holding = 'named' | 'held';

const holdings: ReadonlyMap<string, Holding> = new Map([
  ...named.map((keyword) => [keyword, 'named'] as const),
  ...held.map((keyword) => [keyword, 'held'] as const),
]);

/** The schemas directly in a schema, boolean ones left out; names of properties are not keywords. */
export function* partsOf(schema: Schema): Iterable<Schema> {
  for (const keyword in schema) {
    const holding = holdings.get(keyword);
    const value = schema[keyword];
    if (holding === undefined || typeof value !== 'object' || value === null) continue;
    if (holding === 'held') yield* [value].flat().filter(isRecord);
    else if (isRecord(value)) yield* Object.values(value).filter(isRecord);
  }
}

/**
 * The schema with each of its direct parts mapped; the given one if none of them changes. Plain loops without
 * allocation, because tools have thousands of schemas, and few of them change.
 */
export function mapParts(schema: Schema, map: (part: Schema) => Schema): Schema {
  let copy: Record<string, unknown> | undefined;
  for (const keyword in schema) {
    const holding = holdings.get(keyword);
    const value = schema[keyword];
    if (holding === undefined || typeof value !== 'object' || value === null) continue;
    const mapped = Array.isArray(value)
      ? holding === 'held'
        ? mapList(value, map)
        : value
      : mapOne(value as Schema, holding, map); // it is not a list
    if (mapped !== value) (copy ??= { ...schema })[keyword] = mapped;
  }
  return copy ?? schema;
}

function mapOne(value: Schema, holding: Holding, map: (part: Schema) => Schema): Schema {
  if (holding === 'held') return map(value);
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    const part = value[name];
    const mapped = isRecord(part) ? map(part) : part;
    if (mapped !== part) (copy ??= { ...value })[name] = mapped;
  }
  return copy ?? value;
}

function mapList(value: readonly unknown[], map: (part: Schema) => Schema): readonly unknown[] {
  const mapped = value.map((part) => (isRecord(part) ? map(part) : part));
  return mapped.every((part, at) => part === value[at]) ? value : mapped;
}

/**
 * The schema with each of its parts mapped to one that more values fit: a changed `oneOf` becomes an `anyOf`, and a
 * changed condition is removed.
 */
export function loosenParts(schema: Schema, loosen: (part: Schema) => Schema): Schema {
  const loose = mapParts(schema, loosen);
  const kept = loose['if'] === schema['if'] ? loose : without(loose, ['if', 'then', 'else']);
  if (kept['oneOf'] === schema['oneOf'] || kept['anyOf'] !== undefined) return kept;
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name === 'oneOf' ? 'anyOf' : name, value]),
  );
}

/** The schema without some keywords, the others in their order; the given one if it has none of them. */
export function without(schema: Schema, keywords: readonly string[]): Schema {
  if (!keywords.some((keyword) => keyword in schema)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

/** True if `type` names the type, alone or in a list. */
export function isType(type: unknown, name: unknown): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

/** Cache of the number of schemas within each schema. */
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
