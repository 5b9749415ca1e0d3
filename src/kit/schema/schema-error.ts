import type { ErrorObject } from 'ajv';
import { didYouMean } from './did-you-mean.js';
import { units } from './units.js';

/** Validation error of one place in a value: found by a JSON Schema, or by a rule that a schema cannot express. */
export interface SchemaError {
  /** Keys and indices from the root to the place: `['messages', 2, 'content']`. */
  readonly path: readonly (string | number)[];
  /** Error text without the path: `must be a string`. */
  readonly message: string;
  /** Accepted JSON types, if the type is wrong. */
  readonly types?: readonly string[];
  /** Set if the key itself is unknown, with any value. */
  readonly isUnknownKey?: true;
}

/** Translates an ajv error into our wording. */
export function describe(error: ErrorObject): SchemaError {
  const path = pointerToPath(error.instancePath);
  if (error.parentSchema?.['secret'] === true && quoting.has(error.keyword))
    return { path, message: 'is not valid; its value is a secret and is not shown' };
  const describeKeyword = descriptions[error.keyword];
  return describeKeyword ? describeKeyword(error, path) : { path, message: error.message ?? 'is not valid' };
}

/** Keywords whose messages quote the value. */
const quoting: ReadonlySet<string> = new Set(['unit', 'enum', 'const', 'pattern']);

type Describe = (error: ErrorObject, path: SchemaError['path']) => SchemaError;

const descriptions: Readonly<Record<string, Describe>> = {
  required: ({ params }, path) => ({
    path: [...path, String(params['missingProperty'])],
    message: 'is required',
  }),
  additionalProperties: ({ params, parentSchema }, path) => {
    const name = String(params['additionalProperty']);
    const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
    const message = `is not a known key; ${cureOfUnknown(name, known)}`;
    return { path: [...path, name], message, isUnknownKey: true };
  },
  type: ({ params, data }, path) => ({
    path,
    message: typeMessage(params['type'], data),
    types: [params['type']].flat().map(String),
  }),
  unit: ({ schema, data }, path) => {
    const { noun } = units[schema as keyof typeof units]; // the schema was compiled
    return { path, message: `must be ${noun}, not ${show(data)}` };
  },
  discriminator: ({ params, parentSchema }, path) => ({
    path: [...path, String(params['tag'])],
    message: `must be ${oneOf(tagValues(parentSchema, String(params['tag'])))}, not ${show(params['tagValue'])}`,
  }),
  enum: ({ params, data }, path) => ({
    path,
    message: `must be ${oneOf(params['allowedValues'])}, not ${show(data)}`,
  }),
  const: ({ params, data }, path) => ({
    path,
    message: `must be ${show(params['allowedValue'])}, not ${show(data)}`,
  }),
  minimum: ({ params }, path) => ({ path, message: `must be at least ${params['limit']}` }),
  maximum: ({ params }, path) => ({ path, message: `must be at most ${params['limit']}` }),
  minItems: ({ params }, path) => ({ path, message: `must have at least ${params['limit']} item(s)` }),
  maxItems: ({ params }, path) => ({ path, message: `must have at most ${params['limit']} item(s)` }),
  minProperties: ({ params }, path) => ({ path, message: `must have at least ${params['limit']} key(s)` }),
  maxLength: ({ params }, path) => ({ path, message: `must have at most ${params['limit']} characters` }),
  minLength: (_, path) => ({ path, message: 'must not be empty' }),
  pattern: ({ params, data }, path) => ({
    path,
    message: `must match ${params['pattern']}, not ${show(data)}`,
  }),
};

function cureOfUnknown(name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  if (meant) return `did you mean "${meant}"?`;
  return known.length > 0 ? `known here: ${known.join(', ')}` : 'nothing can be set here';
}

/** Discriminator values of the branches of a union. */
function tagValues(schema: object | undefined, tag: string): readonly unknown[] {
  const { oneOf: branches = [] } = (schema ?? {}) as { oneOf?: readonly BranchSchema[] }; // required by ajv
  return branches.map(({ properties }) => properties[tag]?.const);
}

interface BranchSchema {
  readonly properties: Readonly<Record<string, { readonly const?: unknown }>>;
}

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function typeMessage(types: unknown, data: unknown): string {
  const names = [types].flat().map(String);
  const isInfinite = typeof data === 'number' && !Number.isFinite(data); // or NaN
  if (!isInfinite || !names.some(isNumeric))
    return `must be ${typeNames(names, articles)}, not ${typeOf(data)}`;
  return `must be ${typeNames(names, { ...articles, number: 'a finite number' })}, not ${data}`;
}

function isNumeric(type: string): boolean {
  return type === 'number' || type === 'integer';
}

function typeNames(types: readonly string[], words: typeof articles): string {
  return [...new Set(types.map((type) => words[type] ?? type))].join(' or ');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  return articles[Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
}

function oneOf(values: unknown): string {
  const shown = [...new Set([values].flat().map(show))];
  return shown.length === 1 ? String(shown[0]) : `one of ${shown.join(', ')}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Parses a JSON pointer. Keys made of digits become array indices: no format of the gateway has such a property. */
function pointerToPath(pointer: string): readonly (string | number)[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => {
    const text = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return /^\d+$/.test(text) ? Number(text) : text;
  });
}
