import { between, type Random } from '../random.js';
import { targetOf } from '../rules/schema-rules.js';
import { isObject } from '../rules/shape.js';
import { stringFor } from './string-instance.js';

type Schema = Readonly<Record<string, unknown>>;

interface InstanceContext {
  readonly root: unknown;
  readonly random: Random;
  /** Nesting depth of this schema; beyond `maxDepth` only required values are made. */
  readonly depth: number;
}

const maxDepth = 5;

/** Max number of properties or items, even if the schema requires more. */
const maxCount = 1000;

/** Made-up value for a JSON Schema, as far as its keywords are supported; the same for the same `random`. */
export function instanceOf(schema: unknown, random: Random): unknown {
  try {
    return make(schema, { root: schema, random, depth: 0 });
  } catch {
    return {}; // not validated: possibly no schema, or one without instances
  }
}

function make(given: unknown, context: InstanceContext): unknown {
  if (!isObject(given)) return {};
  const schema = resolve(given, context);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return pick(schema['enum'], context);
  const { anyOf, oneOf, ...own } = schema;
  const branches = listOf(anyOf ?? oneOf);
  if (branches.length > 0) return make(merge(own, pickBranch(branches, context)), context);
  const makeType = makers[typeOf(schema, context)] ?? makeObject;
  return makeType(schema, { ...context, depth: context.depth + 1 });
}

/** Follows `$ref` and folds `allOf` in, up to 20 times. */
function resolve(schema: Schema, context: InstanceContext): Schema {
  let resolved = schema;
  for (let hops = 0; hops < 20 && ('$ref' in resolved || 'allOf' in resolved); hops += 1) {
    const { $ref, allOf, ...own } = resolved;
    const parts = [...listOf(allOf), ...(typeof $ref === 'string' ? [targetOf($ref, context.root)] : [])];
    resolved = parts.reduce<Schema>((sum, part) => merge(sum, part), own);
  }
  return resolved;
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

/** Picks a branch at random; beyond `maxDepth` one without a `$ref`, so that recursive schemas end. */
function pickBranch(branches: readonly unknown[], context: InstanceContext): unknown {
  if (context.depth < maxDepth) return pick(branches, context);
  return branches.find((branch) => !JSON.stringify(branch).includes('"$ref"')) ?? branches[0];
}

function typeOf(schema: Schema, context: InstanceContext): string {
  const types = listOf(schema['type']).map(String);
  if (types.length > 0) return pickType(types, context);
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema) return 'number';
  return 'pattern' in schema || 'format' in schema || 'minLength' in schema ? 'string' : 'object';
}

function pickType(types: readonly string[], context: InstanceContext): string {
  const nonNull = types.filter((type) => type !== 'null');
  return context.depth < maxDepth && nonNull.length > 0 ? pick(nonNull, context) : (types.at(-1) ?? 'object');
}

const makers: Readonly<Record<string, (schema: Schema, context: InstanceContext) => unknown>> = {
  object: makeObject,
  array: makeArray,
  string: (schema, { random }) => stringFor(schema, random),
  integer: (schema, context) => makeNumber({ multipleOf: 1, ...schema }, context),
  number: makeNumber,
  boolean: (_, { random }) => random() < 0.5,
  null: () => null,
};

/** All required properties; above `maxDepth` also the optional ones. */
function makeObject(schema: Schema, context: InstanceContext): unknown {
  const properties = objectOf(schema['properties']);
  const required = listOf(schema['required']).map(String);
  const optional = context.depth < maxDepth ? Object.keys(properties) : [];
  const names = [...new Set([...optional, ...required])].slice(
    0,
    numberOr(schema['maxProperties'], Infinity),
  );
  const made = names.map((name) => [name, make(properties[name] ?? {}, context)] as const);
  const extra = Array.from({
    length: Math.min(maxCount, Math.max(0, numberOr(schema['minProperties'], 0) - names.length)),
  });
  const more = extra.map((_, at) => [`key${at}`, make(schema['additionalProperties'], context)] as const);
  return Object.fromEntries([...made, ...more]);
}

function makeArray(schema: Schema, context: InstanceContext): unknown {
  const min = numberOr(schema['minItems'], 0);
  const usual = context.depth < maxDepth ? between(context.random, 1, 2) : 0;
  const prefix = listOf(schema['prefixItems']);
  const length = Math.min(
    Math.max(min, usual, prefix.length),
    numberOr(schema['maxItems'], maxCount),
    maxCount,
  );
  const items = Array.from({ length }, (_, at) => make(prefix[at] ?? schema['items'], context));
  return schema['uniqueItems'] ? items.map((item, at) => toUnique(item, at)) : items;
}

function toUnique(item: unknown, at: number): unknown {
  if (typeof item === 'string') return `${item} ${at}`;
  return typeof item === 'number' ? item + at : item;
}

function makeNumber(schema: Schema, { random }: InstanceContext): number {
  const step = numberOr(schema['multipleOf'], 0.25);
  const above = schema['exclusiveMinimum'];
  const below = schema['exclusiveMaximum'];
  const min = typeof above === 'number' ? above + step / 2 : numberOr(schema['minimum'], 0);
  const max =
    typeof below === 'number' ? below - step / 2 : numberOr(schema['maximum'], Math.max(min, 0) + 100 * step);
  const from = Math.ceil(min / step);
  const to = Math.floor(max / step);
  return from > to ? (min + max) / 2 : Number((between(random, from, to) * step).toPrecision(12));
}

function pick<Item>(items: readonly Item[], { random }: InstanceContext): Item {
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
