import { compileCheck, type Mismatch } from '../plugin/internal.js';
import type { Path, Source, SourceProblem } from './document.js';
import { typed } from './environment.js';

/** The result of a check of a source against its schema. */
export interface Checked {
  /** A copy with the defaults filled in; has the schema's shape if `isSound([])`. */
  readonly value: unknown;
  readonly problems: readonly SourceProblem[];
  /** True if there is no problem at this path, within it or around it. */
  readonly isSound: (path: Path) => boolean;
}

/**
 * Checks a source against a schema, with one problem per path. A value that the source has already reported
 * is skipped.
 */
export function checkSource(source: Source, schema: object): Checked {
  return checkSourceBy(source.isYaml ? compileCheck(schema, { useDefaults: true }) : () => [], source);
}

/** Checks a source like `checkSource`, with a compiled check that fills in defaults. */
export function checkSourceBy(check: (value: unknown) => readonly Mismatch[], source: Source): Checked {
  const value = structuredClone(source.value);
  const mismatches = check(value);
  const reported = new Set(source.problems.map(({ path }) => JSON.stringify(path)));
  const problems = mismatches
    .filter(
      ({ path, isUnknownKey }) =>
        isUnknownKey || (!reported.has(JSON.stringify(path)) && reported.add(JSON.stringify(path))),
    )
    .map((mismatch) => ({
      at: source.positionOf(mismatch.path),
      path: mismatch.path,
      message: explain(mismatch, source.value),
    }));
  const wrong = [...source.problems, ...problems];
  const isSound = (place: Path) => !wrong.some(({ path }) => isWithin(path, place) || isWithin(place, path));
  return { value, problems, isSound };
}

/** Error message of a mismatch, with the fix if quotes are the cause. `root` is the checked value. */
export function explain({ path, message, types = [] }: Mismatch, root: unknown): string {
  const found = valueAt(root, path);
  if (types.includes('string') && ['number', 'boolean'].includes(typeof found))
    return `${message}; write it in quotes`;
  if (path.length === 2 && path[0] === 'pipeline' && typeof found === 'string')
    return `${message}; write \`- use: ${found}\``;
  const unquoted = typeof found === 'string' ? typeof typed(found) : 'undefined';
  if (types.some((type) => (type === 'integer' ? 'number' : type) === unquoted) && unquoted !== 'string')
    return `${message}; write it without quotes`;
  return message;
}

function isWithin(path: Path, enclosing: Path): boolean {
  return enclosing.every((key, at) => path[at] === key);
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined, // any object has keys
    root,
  );
}
