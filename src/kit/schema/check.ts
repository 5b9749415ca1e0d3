import { Ajv, type ErrorObject } from 'ajv';
import { describe, type SchemaError } from './schema-error.js';
import { oneForEachUnion } from './union-errors.js';
import { units } from './units.js';

export interface CheckOptions {
  /** Fill in the schema's defaults, in place; off by default. */
  readonly useDefaults?: boolean;
}

/**
 * Compiles a JSON Schema into a validator that returns the errors of a value; none if it conforms. Compiling
 * is slow: do it once, and lazily.
 */
export function compileCheck(
  schema: object,
  { useDefaults = false }: CheckOptions = {},
): (value: unknown) => readonly SchemaError[] {
  const ajv = new Ajv({
    allErrors: useDefaults,
    useDefaults,
    strict: false,
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

/** Keyword `unit: duration`: the value must be a duration (see units.ts). */
const unitKeyword = {
  keyword: 'unit',
  compile: (unit: keyof typeof units) => {
    if (!Object.hasOwn(units, unit)) throw new Error(`there is no unit "${unit}"`);
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
