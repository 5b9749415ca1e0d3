import { isRecord } from './record.js';

/** Keywords of a JSON Schema that describe parts of a value, and `secret` and `local`, which are our own. */
export interface SchemaBranch {
  readonly secret?: unknown;
  readonly local?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly unevaluatedProperties?: unknown;
  readonly items?: unknown;
  readonly prefixItems?: readonly unknown[];
  readonly additionalItems?: unknown;
  readonly unevaluatedItems?: unknown;
  readonly contains?: unknown;
}

/**
 * All schemas that may apply to the same value: alternatives, conditions and references within `root`, each once.
 * Undefined if a reference cannot be resolved.
 */
export function schemaBranches(
  schemas: readonly unknown[],
  root: unknown,
): readonly SchemaBranch[] | undefined {
  const found = new Set<unknown>(schemas.filter(isRecord));
  for (const schema of found) {
    // A set also iterates over what is added meanwhile.
    const branch = schema as Readonly<Record<string, unknown>>; // only records are added
    if (unknownReferences.some((keyword) => branch[keyword] !== undefined)) return undefined;
    const target = '$ref' in branch ? targetOf(branch['$ref'], root) : undefined;
    if ('$ref' in branch && target === undefined) return undefined;
    for (const part of [target, ...partsOf(branch)]) if (isRecord(part)) found.add(part);
  }
  return [...found] as SchemaBranch[]; // as above
}

const unknownReferences = ['$dynamicRef', '$recursiveRef'] as const;
const single = ['if', 'then', 'else', 'not'] as const;
const lists = ['anyOf', 'oneOf', 'allOf'] as const;
const maps = ['dependentSchemas', 'dependencies'] as const;

/** Schemas that a schema applies to the same value. */
function partsOf(branch: Readonly<Record<string, unknown>>): readonly unknown[] {
  return [
    ...single.map((keyword) => branch[keyword]),
    ...lists.flatMap((keyword) => branch[keyword]),
    ...maps.flatMap((keyword) => Object.values(Object(branch[keyword]) as object)),
  ];
}

/** Schema at a JSON pointer within the root: `#/$defs/login`, or `#`; undefined if there is none. */
function targetOf(reference: unknown, root: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
  let at = root;
  for (const part of reference.split('/').slice(1)) {
    const key = keyOf(part);
    if (key === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key]; // it has the key
  }
  return at;
}

function keyOf(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined; // a lone percent sign
  }
}

/** Schemas of items; those of a tuple apply to all of its places, so that one marked among them is enough. */
export function itemSchemas(schema: SchemaBranch): readonly unknown[] {
  const { items, prefixItems = [], additionalItems, unevaluatedItems, contains } = schema;
  return [items, prefixItems, additionalItems, unevaluatedItems, contains].flat();
}

/** Schemas that describe a key; the patterns are not tried, so that one marked among them is enough. */
export function keySchemas(schema: SchemaBranch, key: string): readonly unknown[] {
  const { properties = {}, patternProperties = {}, additionalProperties, unevaluatedProperties } = schema;
  if (Object.hasOwn(properties, key)) return [properties[key]];
  const patterns = Object.values(patternProperties);
  if (patterns.length > 0) return patterns;
  return [additionalProperties, unevaluatedProperties].filter(isRecord);
}
