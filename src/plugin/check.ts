import { Ajv, type ErrorObject } from 'ajv';
import { units } from './units.js';

/** One thing wrong with a value. */
export interface Mismatch {
  /** Keys and indices from the root to the place: `['messages', 2, 'content']`. */
  readonly path: readonly (string | number)[];
  /** What is wrong there, without the path: `must be a string`. */
  readonly message: string;
  /** The JSON types that would do, where the type is what is wrong. */
  readonly types?: readonly string[];
}

export interface CheckOptions {
  /** Fill in the schema's defaults, in place; off by default. */
  readonly useDefaults?: boolean;
}

/**
 * Compiles a JSON Schema into a check that returns what is wrong with a value, nothing where it conforms. Compiling takes
 * milliseconds: do it once, and not before it is needed.
 */
export function compileCheck(
  schema: object,
  { useDefaults = false }: CheckOptions = {},
): (value: unknown) => readonly Mismatch[] {
  const ajv = new Ajv({
    allErrors: useDefaults,
    useDefaults,
    strict: false,
    verbose: true,
    discriminator: true,
    keywords: [unitKeyword],
    // Compiling says what is wrong with a schema too, without the many milliseconds that the schema of schemas takes.
    validateSchema: false,
    meta: false,
  });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : deepest(spoken(validate.errors ?? [])).map(describe));
}

/** `unit: duration` in a schema: the value is one (see units.ts). */
const unitKeyword = {
  keyword: 'unit',
  compile: (unit: keyof typeof units) => {
    if (!Object.hasOwn(units, unit)) throw new Error(`there is no unit "${unit}"`);
    return (value: unknown) => units[unit].parse(value) !== undefined;
  },
};

/** `messages[2].content`, the way a caller would write it; the empty path is `body`. */
export function formatPath(path: readonly (string | number)[], root = 'body'): string {
  if (path.length === 0) return root;
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('');
}

/** The known name that a mistyped one is closest to, where one is close enough to be meant. */
export function didYouMean(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : undefined;
}

/** Errors that only announce another one, or repeat it, are left out. */
function spoken(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  return errors.filter(
    ({ keyword, params, instancePath }) =>
      keyword !== 'if' &&
      !(keyword === 'discriminator' && isMissing(errors, instancePath, String(params['tag']))),
  );
}

function isMissing(errors: readonly ErrorObject[], instancePath: string, name: string): boolean {
  return errors.some(
    (error) =>
      error.keyword === 'required' &&
      error.instancePath === instancePath &&
      error.params['missingProperty'] === name,
  );
}

/** Of the errors of a union's branches only those that got furthest say something; the union's own error never does. */
function deepest(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  if (unions.length === 0) return errors;
  const outer = unions.reduce((a, b) => (a.schemaPath.length <= b.schemaPath.length ? a : b));
  const within = errors.filter((error) => error !== outer && error.schemaPath.startsWith(outer.schemaPath));
  const outside = errors.filter((error) => error !== outer && !within.includes(error));
  const depth = Math.max(...within.map(({ instancePath }) => instancePath.split('/').length));
  const furthest = within.filter(({ instancePath }) => instancePath.split('/').length === depth);
  const chosen =
    depth > outer.instancePath.split('/').length ? furthest.slice(0, 1) : [unionError(outer, within)];
  return [...outside, ...chosen];
}

/** A branch whose type fits knows best what is wrong; where none does, it is the type. */
function unionError(outer: ErrorObject, within: readonly ErrorObject[]): ErrorObject {
  const here = within.filter(({ instancePath }) => instancePath === outer.instancePath);
  const fitting = here.find(({ keyword }) => !['type', 'const', 'anyOf', 'oneOf'].includes(keyword));
  if (fitting) return fitting;
  const types = here.filter(({ keyword }) => keyword === 'type');
  const constants = here.filter(({ keyword }) => keyword === 'const');
  if (types.length > 0)
    return { ...outer, keyword: 'type', params: { type: types.map(({ params }) => params['type']) } };
  if (constants.length === 0) return outer;
  return {
    ...outer,
    keyword: 'enum',
    params: { allowedValues: constants.map(({ params }) => params['allowedValue']) },
  };
}

function describe(error: ErrorObject): Mismatch {
  const path = pointerToPath(error.instancePath);
  const describeKeyword = descriptions[error.keyword];
  return describeKeyword ? describeKeyword(error, path) : { path, message: error.message ?? 'is not valid' };
}

type Describe = (error: ErrorObject, path: Mismatch['path']) => Mismatch;

const descriptions: Readonly<Record<string, Describe>> = {
  required: ({ params }, path) => ({
    path: [...path, String(params['missingProperty'])],
    message: 'is required',
  }),
  additionalProperties: ({ params, parentSchema }, path) => {
    const name = String(params['additionalProperty']);
    const meant = didYouMean(name, Object.keys((parentSchema?.['properties'] as object | undefined) ?? {}));
    return {
      path: [...path, name],
      message: `is not a known key${meant ? `; did you mean "${meant}"?` : ''}`,
    };
  },
  type: ({ params, data }, path) => ({
    path,
    message: `must be ${typeNames(params['type'])}, not ${typeOf(data)}`,
    types: [params['type']].flat().map(String),
  }),
  unit: ({ schema, data }, path) => {
    const { noun } = units[schema as keyof typeof units]; // it has been compiled
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
  minLength: (_, path) => ({ path, message: 'must not be empty' }),
  pattern: ({ params, data }, path) => ({
    path,
    message: `must match ${params['pattern']}, not ${show(data)}`,
  }),
};

/** The values by which the branches of a discriminated union are told apart. */
function tagValues(schema: object | undefined, tag: string): readonly unknown[] {
  const { oneOf: branches = [] } = (schema ?? {}) as { oneOf?: readonly BranchSchema[] }; // Ajv requires them so
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

function typeNames(types: unknown): string {
  const names = [types].flat().map((type) => articles[String(type)] ?? String(type));
  return [...new Set(names)].join(' or ');
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

/** Keys made of digits are taken for array indices: no format of ours has such a property. */
function pointerToPath(pointer: string): readonly (string | number)[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => {
    const text = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return /^\d+$/.test(text) ? Number(text) : text;
  });
}

/** Two letters in the wrong order count as one slip, as does one letter too many, too few or wrong. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const distance = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = distance(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? distance(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, distance(i - 1, j) + 1, distance(i, j - 1) + 1));
    }
  }
  return distance(a.length, b.length);
}
