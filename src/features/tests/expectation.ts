import type { Path } from '../../config/document.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { isRecord } from '../../kit/schema/record.js';
import { matcherNames, matchers } from './matchers.js';
import type { Check, Complain, Mismatch } from './mismatch.js';
import { shapeAt, type Shape } from './outcome-shape.js';
import { parsePath, valueOf } from './value-path.js';

/** Expectation that still is a plain value of a test file. */
export interface Written {
  readonly value: unknown;
  /** Place in the test file. */
  readonly at: Path;
  readonly shape: Shape;
  /** True for the whole of an outcome, whose keys are never matchers. */
  readonly isOutcome?: boolean;
}

/** Max depth of an expectation. */
const maxDepth = 64;

/**
 * Compiles an expectation: an object of matchers, an object of which each named key is compared, a list that is
 * compared item by item, or a plain value.
 */
export function compileExpectation(written: Written, complain: Complain, depth = 0): Check {
  const { value, at } = written;
  if (depth > maxDepth) return refused(complain, at, `is nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return compileList(value, written, complain, depth);
  if (!isRecord(value)) return equalTo(written);
  const names = Object.keys(value);
  const rules = names.filter((name) => Object.hasOwn(matchers, name));
  if (rules.length === 0 || written.isOutcome === true) return compileFields(value, written, complain, depth);
  const other = names.find((name) => !rules.includes(name));
  if (other === undefined) return compileRules(value, written, complain, depth);
  const cure = `${cureOfName(other)}; write "equal" around an object that has the key "${rules[0]}"`;
  return refused(complain, [...at, other], `is not a matcher, but stands beside one; ${cure}`);
}

function cureOfName(name: string): string {
  const meant = didYouMean(name, matcherNames);
  return meant === undefined ? `matchers are ${matcherNames.join(', ')}` : `did you mean "${meant}"?`;
}

function refused(complain: Complain, at: Path, message: string): Check {
  complain({ path: at, message });
  return () => [];
}

function equalTo({ value, at, shape }: Written): Check {
  const isPlace = shape === 'plain' || shape === 'json';
  return (actual, path) => {
    if (actual === value || Object.is(actual, value)) return []; // 0 is -0, and NaN is NaN
    const hint =
      value === null && actual === undefined
        ? 'write { absent: true } for a missing value'
        : isPlace || actual === undefined
          ? undefined
          : 'write a matcher, or the keys to compare';
    return [{ at, path, expected: value, isRule: false, actual, ...(hint !== undefined && { hint }) }];
  };
}

function compileRules(
  value: Readonly<Record<string, unknown>>,
  { at, shape }: Written,
  complain: Complain,
  depth: number,
): Check {
  const compile = (inner: unknown, place: Path, within: Shape) =>
    compileExpectation({ value: inner, at: place, shape: within }, complain, depth + 1);
  const rules = Object.entries(value).map(([name, argument]) => ({
    at: [...at, name],
    expected: { [name]: argument },
    holds: matchers[name]?.({ argument, at: [...at, name], shape, complain, compile }) ?? (() => true),
  }));
  return (actual, path) =>
    rules
      .filter(({ holds }) => !holds(actual))
      .map(({ at, expected }) => ({ at, path, expected, isRule: true, actual }));
}

function compileList(
  items: readonly unknown[],
  { value, at, shape }: Written,
  complain: Complain,
  depth: number,
): Check {
  const within = itemShape(shape);
  if (!within) {
    const cure = 'write { any: […] } for one of several values';
    return refused(complain, at, `must not be a list here; ${cure}`);
  }
  const checks = items.map((item, index) =>
    compileExpectation({ value: item, at: [...at, index], shape: within }, complain, depth + 1),
  );
  return (actual, path) =>
    Array.isArray(actual) && actual.length === checks.length
      ? checks.flatMap((check, index) => check(actual[index], `${path}[${index}]`))
      : [{ at, path, expected: value, isRule: false, actual }];
}

function itemShape(shape: Shape): Shape | undefined {
  if (shape === 'json') return shape;
  return typeof shape === 'object' && 'items' in shape ? shape.items : undefined;
}

interface Field {
  readonly key: string;
  readonly at: Path;
  readonly check: Check;
  readonly raw: unknown;
}

function compileFields(
  value: Readonly<Record<string, unknown>>,
  { at, shape }: Written,
  complain: Complain,
  depth: number,
): Check {
  const fields = Object.entries(value).map(([key, raw]): Field => {
    const place = [...at, key];
    const within = fieldShape(shape, key);
    if (typeof within === 'object' && 'fault' in within)
      return { key, at: place, raw, check: refused(complain, place, within.fault) };
    return {
      key,
      at: place,
      raw,
      check: compileExpectation({ value: raw, at: place, shape: within }, complain, depth + 1),
    };
  });
  return (actual, path) =>
    typeof actual === 'object' && actual !== null
      ? fields.flatMap((field) => checkField(field, actual, path))
      : [{ at, path, expected: value, isRule: false, actual }];
}

/** Shape of the value of a key: of an exact known key, else of a path. */
function fieldShape(shape: Shape, key: string): Shape | { readonly fault: string } {
  if (shape === 'plain') return { fault: `is not a matcher; ${cureOfName(key)}` };
  if (shape === 'json') return shape;
  const path = parsePath(key);
  return path ? shapeAt(shape, path) : { fault: 'is not a path such as a.b[0].c' };
}

function checkField({ key, at, check, raw }: Field, parent: object, path: string): readonly Mismatch[] {
  const actual = valueOf(parent, key);
  const found = check(actual, joined(path, key));
  if (actual !== undefined || isRecord(raw)) return found.map((one) => withHint(one, parent, key, raw));
  return found.map((one) => withHint({ ...one, at }, parent, key, raw));
}

/** Adds a suggestion to a mismatch of an unknown key. */
function withHint(mismatch: Mismatch, parent: object, key: string, raw: unknown): Mismatch {
  if (mismatch.actual !== undefined || mismatch.hint !== undefined || valueOf(parent, key) !== undefined)
    return mismatch;
  const isPath = (parsePath(key)?.length ?? 0) > 1;
  const keys = isPath || Array.isArray(parent) ? [] : Object.keys(parent).slice(0, 200);
  const meant = didYouMean(key, keys);
  const rule = isRecord(raw) ? Object.keys(raw).find((name) => !Object.hasOwn(matchers, name)) : undefined;
  const matcher = rule === undefined ? undefined : didYouMean(rule, matcherNames);
  const hint = meant ?? matcher;
  return hint === undefined ? mismatch : { ...mismatch, hint: `did you mean "${hint}"?` };
}

function joined(path: string, key: string): string {
  if (path === '') return key;
  return key.startsWith('[') ? `${path}${key}` : `${path}.${key}`;
}
