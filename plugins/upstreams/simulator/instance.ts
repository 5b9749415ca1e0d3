import { between, type Random } from './random.js';
import { isObject } from './shape.js';
import { stringFor } from './string-instance.js';

type Schema = Readonly<Record<string, unknown>>;

interface Making {
  readonly root: unknown;
  readonly random: Random;
  /** Nesting depth of this schema; beyond `deepest` only required values are made. */
  readonly depth: number;
}

const deepest = 5;

/** Max number of anything made, whatever the schema asks for. */
const maxProperties = 1000;

/** Made-up value for a JSON Schema, as far as its keywords are supported; the same for the same `random`. */
export function instanceOf(schema: unknown, random: Random): unknown {
  try {
    return make(schema, { root: schema, random, depth: 0 });
  } catch {
    return {}; // not validated: possibly no schema, or one without instances
  }
}

function make(given: unknown, making: Making): unknown {
  if (!isObject(given)) return {};
  const schema = resolve(given, making);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return pick(schema['enum'], making);
  const { anyOf, oneOf, ...own } = schema;
  const branches = listOf(anyOf ?? oneOf);
  if (branches.length > 0) return make(merge(own, pickBranch(branches, making)), making);
  const makeType = makers[typeOf(schema, making)] ?? makeObject;
  return makeType(schema, { ...making, depth: making.depth + 1 });
}

/** Follows `$ref` and folds `allOf` in, for as long as there are some. */
function resolve(schema: Schema, making: Making): Schema {
  let resolved = schema;
  for (let hops = 0; hops < 20 && ('$ref' in resolved || 'allOf' in resolved); hops += 1) {
    const { $ref, allOf, ...own } = resolved;
    const parts = [...listOf(allOf), ...(typeof $ref === 'string' ? [pointed(making.root, $ref)] : [])];
    resolved = parts.reduce<Schema>((sum, part) => merge(sum, part), own);
  }
  return resolved;
}

function pointed(root: unknown, ref: string): unknown {
  const keys = ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  return keys.reduce<unknown>((at, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) ? at[name] : undefined;
  }, root);
}

function merge(a: Schema, given: unknown): Schema {
  const b = isObject(given) ? given : {};
  return {
    ...a,
    ...b,
    properties: { ...objectOf(a['properties']), ...objectOf(b['properties']) },
    required: [...new Set([...listOf(a['required']), ...listOf(b['required'])])],
  };
}

/** Deep inside a branch without a `$ref` is taken, so that recursive schemas end. */
function pickBranch(branches: readonly unknown[], making: Making): unknown {
  if (making.depth < deepest) return pick(branches, making);
  return branches.find((branch) => !JSON.stringify(branch).includes('"$ref"')) ?? branches[0];
}

function typeOf(schema: Schema, making: Making): string {
  const types = listOf(schema['type']).map(String);
  if (types.length > 0) return pickType(types, making);
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema) return 'number';
  return 'pattern' in schema || 'format' in schema || 'minLength' in schema ? 'string' : 'object';
}

function pickType(types: readonly string[], making: Making): string {
  const solid = types.filter((type) => type !== 'null');
  return making.depth < deepest && solid.length > 0 ? pick(solid, making) : (types.at(-1) ?? 'object');
}

const makers: Readonly<Record<string, (schema: Schema, making: Making) => unknown>> = {
  object: makeObject,
  array: makeArray,
  string: (schema, { random }) => stringFor(schema, random),
  integer: (schema, making) => makeNumber({ multipleOf: 1, ...schema }, making),
  number: makeNumber,
  boolean: (_, { random }) => random() < 0.5,
  null: () => null,
};

/** Every required property, and above `deepest` the optional ones too. */
function makeObject(schema: Schema, making: Making): unknown {
  const properties = objectOf(schema['properties']);
  const required = listOf(schema['required']).map(String);
  const optional = making.depth < deepest ? Object.keys(properties) : [];
  const names = [...new Set([...optional, ...required])].slice(
    0,
    numberOr(schema['maxProperties'], Infinity),
  );
  const made = names.map((name) => [name, make(properties[name] ?? {}, making)] as const);
  const extra = Array.from({
    length: Math.min(maxProperties, Math.max(0, numberOr(schema['minProperties'], 0) - names.length)),
  });
  const more = extra.map((_, at) => [`key${at}`, make(schema['additionalProperties'], making)] as const);
  return Object.fromEntries([...made, ...more]);
}

function makeArray(schema: Schema, making: Making): unknown {
  const least = numberOr(schema['minItems'], 0);
  const usual = making.depth < deepest ? between(making.random, 1, 2) : 0;
  const prefix = listOf(schema['prefixItems']);
  const length = Math.min(
    Math.max(least, usual, prefix.length),
    numberOr(schema['maxItems'], maxProperties),
    maxProperties,
  );
  const items = Array.from({ length }, (_, at) => make(prefix[at] ?? schema['items'], making));
  return schema['uniqueItems'] ? items.map((item, at) => toUnique(item, at)) : items;
}

function toUnique(item: unknown, at: number): unknown {
  if (typeof item === 'string') return `${item} ${at}`;
  return typeof item === 'number' ? item + at : item;
}

function makeNumber(schema: Schema, { random }: Making): number {
  const step = numberOr(schema['multipleOf'], 0.25);
  const above = schema['exclusiveMinimum'];
  const below = schema['exclusiveMaximum'];
  const least = typeof above === 'number' ? above + step / 2 : numberOr(schema['minimum'], 0);
  const maxProperties =
    typeof below === 'number'
      ? below - step / 2
      : numberOr(schema['maximum'], Math.max(least, 0) + 100 * step);
  const from = Math.ceil(least / step);
  const to = Math.floor(maxProperties / step);
  return from > to ? (least + maxProperties) / 2 : Number((between(random, from, to) * step).toPrecision(12));
}

function pick<Item>(items: readonly Item[], { random }: Making): Item {
  return items[between(random, 0, items.length - 1)] as Item; // within the list, which is not empty
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value].flat();
}

function objectOf(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
