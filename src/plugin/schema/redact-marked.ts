import { isRecord } from './record.js';

const blank = '***';

/**
 * Redacts a copy of options: the values that their JSON Schema marks with `secret: true`, and those of keys
 * that it does not describe.
 */
export function redactMarked(value: unknown, schema: unknown): unknown {
  return redacted(value, branches(schema));
}

/** Texts of options that their JSON Schema marks with `secret: true`, to keep them out of messages. */
export function markedTexts(value: unknown, schema: unknown): readonly string[] {
  return textsIn(value, redactMarked(value, schema));
}

/** Texts of a value where its redacted copy has others. */
function textsIn(value: unknown, shown: unknown): readonly string[] {
  if (value === shown) return [];
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const copy = Object(shown) as Readonly<Record<string, unknown>>; // of a marked object it has nothing
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, copy[key]));
}

interface Marked {
  readonly secret?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly prefixItems?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly allOf?: readonly unknown[];
}

function redacted(value: unknown, schemas: readonly Marked[]): unknown {
  if (value === undefined) return value;
  if (schemas.some(({ secret }) => secret === true)) return blank;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(itemsOf).flatMap(branches);
    return value.map((item: unknown) => redacted(item, items));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const own = schemas.flatMap((schema) => schemasOf(schema, key)).flatMap(branches);
      return [key, own.length > 0 ? redacted(inner, own) : blank];
    }),
  );
}

/** Schemas of items; those of a tuple hold for all of its places, so that one secret among them is enough. */
function itemsOf({ items, prefixItems = [] }: Marked): readonly unknown[] {
  return [...prefixItems, ...(Array.isArray(items) ? (items as readonly unknown[]) : [items])];
}

/** Schemas that describe a key; the patterns are not tried, so that one secret among them is enough. */
function schemasOf(schema: Marked, key: string): readonly unknown[] {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, key)) return [properties[key]];
  const patterns = Object.values(patternProperties);
  if (patterns.length > 0) return patterns;
  return isRecord(additionalProperties) ? [additionalProperties] : [];
}

/** A schema with those that it is put together from. */
function branches(schema: unknown): readonly Marked[] {
  const marked = Object(schema) as Marked; // any object has properties, perhaps none
  const { anyOf = [], oneOf = [], allOf = [] } = marked;
  return [marked, ...[...anyOf, ...oneOf, ...allOf].flatMap(branches)];
}
