import { createRequire } from 'node:module';
import type * as ajvModule from 'ajv';
import type { ErrorObject } from 'ajv';
import { lazy } from '../once.js';
import { readPredicate } from './schema-predicate.js';
import { isRecord } from './record.js';
import { describe, type SchemaError } from './schema-error.js';
import { units } from './units.js';

export interface CheckOptions {
  /** Fill in the schema's defaults, in place; off by default. */
  readonly useDefaults?: boolean;
}

/**
 * Makes a validator of a JSON Schema that returns the errors of a value; none if it conforms. Throws for a schema that
 * is not valid. Compiles it, which is slow: do it once, and lazily. A validator that fills in defaults is for values
 * such as a config, which come once: it reads the schema (see schema-predicate.ts), and compiles it to say what is
 * wrong.
 */
export function compileCheck(
  schema: object,
  { useDefaults = false }: CheckOptions = {},
): (value: unknown) => readonly SchemaError[] {
  const test = useDefaults ? readPredicate(schema) : undefined;
  if (!test) return compiled(schema, useDefaults);
  const errorsOf = lazy(() => compiled(schema, useDefaults));
  return (value) => {
    const filled = structuredClone(value); // ajv would take defaults for what the value says
    if (!test(filled, true)) return errorsOf()(value);
    if (isRecord(value)) Object.assign(value, filled);
    return [];
  };
}

function compiled(schema: object, useDefaults: boolean): ReturnType<typeof compileCheck> {
  const { Ajv } = loadAjv();
  const ajv = new Ajv({
    allErrors: useDefaults,
    useDefaults,
    strict: false,
    strictNumbers: true, // `strict: false` would let Infinity pass
    verbose: true,
    discriminator: true,
    keywords: [unitKeyword],
    // A validator that fills in defaults runs once: optimizing its code would cost more than it saves.
    code: { optimize: !useDefaults },
    // Compiling reports an invalid schema too, without the cost of the meta-schema.
    validateSchema: false,
    meta: false,
  });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : oneForEachUnion(spoken(validate.errors ?? [])).map(describe));
}

/** Loaded on first use: a start with a valid config has no need of it. */
const loadAjv = lazy(() => createRequire(import.meta.url)('ajv') as typeof ajvModule);

/** Keyword `unit: duration`: the value must be a duration (see units.ts). */
const unitKeyword = {
  keyword: 'unit',
  compile: (unit: keyof typeof units) => {
    if (!Object.hasOwn(units, unit)) throw new Error(`unknown unit "${unit}"`);
    return (value: unknown) => units[unit].parse(value) !== undefined;
  },
};

/** Path as a caller would write it: `messages[2].content`; the empty path is `body`. */
export function formatPath(path: readonly (string | number)[], root = 'body'): string {
  if (path.length === 0) return root;
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('');
}

/** Removes errors that only announce or repeat another one. */
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

/**
 * Reduces each failed union to one error: that of the branch that got furthest. The union's own error is
 * never useful.
 */
function oneForEachUnion(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const [first, ...others] = unions;
  if (!first) return errors;
  const outer = others.reduce((a, b) => (a.schemaPath.length <= b.schemaPath.length ? a : b), first);
  const within = errors.filter((error) => error !== outer && isWithin(error, outer));
  const outside = errors.filter((error) => error !== outer && !within.includes(error));
  return [...oneForEachUnion(outside), furthest(outer, within)];
}

/**
 * True for an error of a branch of `outer`. Compares the paths too: items of one array share a schema, but
 * not their unions.
 */
function isWithin(error: ErrorObject, outer: ErrorObject): boolean {
  const isBelow = `${error.instancePath}/`.startsWith(`${outer.instancePath}/`);
  return isBelow && error.schemaPath.startsWith(`${outer.schemaPath}/`);
}

function furthest(outer: ErrorObject, within: readonly ErrorObject[]): ErrorObject {
  const below = within.filter(({ instancePath }) => instancePath.length > outer.instancePath.length);
  const depth = Math.max(...below.map(depthOf));
  const deepest = below.filter((error) => depthOf(error) === depth);
  // A branch whose tag has another value was not meant.
  const others = new Set(
    below.filter(({ keyword }) => keyword === 'const').map((error) => branchOf(error, outer)),
  );
  const meant = deepest.find((error) => !others.has(branchOf(error, outer)));
  return meant ?? deepest[0] ?? unionError(outer, within);
}

/** Index of the union's branch that an error is of. */
function branchOf({ schemaPath }: ErrorObject, outer: ErrorObject): string {
  return schemaPath.slice(outer.schemaPath.length + 1).split('/', 1)[0] ?? '';
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length;
}

/**
 * Picks the error of a branch whose type fits; without one, reports the types or values that the branches
 * accept.
 */
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
