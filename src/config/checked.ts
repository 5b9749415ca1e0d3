import { compileCheck } from '../plugin/format/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import { isRecord } from '../kit/schema/record.js';
import type { Path, Source } from './document.js';
import { parseScalar } from './environment.js';

/** The result of a check of a source against its schema. */
export interface Checked {
  /** A copy with the defaults filled in; has the schema's shape if `isValid([])`. */
  readonly value: unknown;
  readonly errors: readonly SchemaError[];
  /** True if there is no error at this path, within it or around it. */
  readonly isValid: (path: Path) => boolean;
}

/**
 * Checks a source against a schema, with one error per path. A value that the source has already reported
 * is skipped.
 */
export function checkSource(source: Source, schema: object): Checked {
  return checkSourceBy(source.isYaml ? checkOf(schema) : () => [], source);
}

type Check = (value: unknown) => readonly SchemaError[];

/**
 * Checks by their schemas, kept because an invalid config has its check compiled, which blocks all requests of a
 * reload. A process without recent reads releases the memory.
 */
const checks = new WeakMap<object, WeakRef<Check>>();

function checkOf(schema: object): Check {
  const known = checks.get(schema)?.deref();
  if (known) return known;
  const check = compileCheck(schema, { useDefaults: true });
  checks.set(schema, new WeakRef(check));
  return check;
}

/** Checks a source like `checkSource`, with a compiled check that fills in defaults. */
export function checkSourceBy(check: Check, source: Source): Checked {
  const value = structuredClone(source.value);
  const reported = new Set(source.errors.map(({ path }) => JSON.stringify(path)));
  const errors = check(value)
    .filter(
      ({ path, isUnknownKey }) =>
        isUnknownKey || (!reported.has(JSON.stringify(path)) && reported.add(JSON.stringify(path))),
    )
    .map((error) => ({ path: error.path, message: explain(error, source.value) }));
  const all = [...source.errors, ...errors];
  return { value, errors, isValid: validity(all) };
}

/**
 * Function that reports whether a place has no error at, within or around it, in time that depends on its depth alone.
 */
function validity(errors: readonly SchemaError[]): Checked['isValid'] {
  const broken = new Set<string>();
  const around = new Set<string>();
  for (const { path } of errors) {
    broken.add(JSON.stringify(path));
    for (const enclosing of enclosingOf(path)) around.add(JSON.stringify(enclosing));
  }
  return (place) =>
    errors.length === 0 ||
    (!around.has(JSON.stringify(place)) &&
      !enclosingOf(place).some((enclosing) => broken.has(JSON.stringify(enclosing))));
}

/** A path and all that enclose it. */
function enclosingOf(path: Path): readonly Path[] {
  return [...path.map((_, length) => path.slice(0, length)), path];
}

/** Message of an error, with the fix if quotes are the cause. `root` is the checked value. */
export function explain({ path, message, types = [] }: SchemaError, root: unknown): string {
  const found = valueAt(root, path);
  if (types.includes('string') && ['number', 'boolean'].includes(typeof found))
    return `${message}; write it in quotes`;
  const form = formOf(path, found);
  if (form !== undefined) return `${message}; write ${form}`;
  const unquoted = typeof found === 'string' ? typeof parseScalar(found) : 'undefined';
  if (types.some((type) => (type === 'integer' ? 'number' : type) === unquoted) && unquoted !== 'string')
    return `${message}; write it without quotes`;
  return message;
}

/** Expected form of a value with another one; undefined if none is known. */
function formOf(path: Path, found: unknown): string | undefined {
  if (isStagePath(path) && typeof found === 'string') return `\`- use: ${found}\``;
  if (path.length === 1 && path[0] === 'slots' && isRecord(found))
    return `each slot as an entry of the list, \`- id: ${Object.keys(found)[0] ?? 'NAME'}\``;
  if (!isTestedSlot(path)) return undefined;
  if (Array.isArray(found)) return '`{ scenario: [ … ] }`';
  if (typeof found === 'number') return `\`{ status: ${found} }\``;
  return typeof found === 'string' ? `\`{ scenario: ${JSON.stringify(found)} }\`` : undefined;
}

/** True for `tests[0].slots.a`, `tests[0].requests[1].slots.a` and `defaults.slots.a`. */
function isTestedSlot(path: Path): boolean {
  return (path[0] === 'tests' || path[0] === 'defaults') && path.at(-2) === 'slots';
}

/** True for `pipeline[3]` and `pipeline[3].oneOf[0]`. */
function isStagePath([root, , ...rest]: Path): boolean {
  return root === 'pipeline' && (rest.length === 0 || (rest.length === 2 && rest[0] === 'oneOf'));
}

export function isWithin(path: Path, enclosing: Path): boolean {
  return enclosing.every((key, at) => path[at] === key);
}

/** Value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined, // any object has keys
    root,
  );
}
