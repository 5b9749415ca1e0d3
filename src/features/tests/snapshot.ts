import type { DryOutcome } from '../dry-run/outcome.js';
import { isRecord } from '../../kit/schema/record.js';
import { compileExpectation } from './expectation.js';
import { matchers } from './matchers.js';
import { outcomeShape } from './outcome-shape.js';
import { valueOf } from './value-path.js';
import type { SnapshotPlace } from './config-test.js';

/** Keys of an outcome in a snapshot of the whole. */
const recorded = [
  'status',
  'error',
  'slot',
  'answeredBy',
  'attempts',
  'stages',
  'skipped',
  'dropped',
  'usage',
  'upstream',
  'answer',
] as const satisfies readonly (keyof DryOutcome)[];

/**
 * Expected value for a place, from the outcomes of two runs, without the parts that differ (ids, times, durations).
 * Undefined if nothing is the same.
 */
export function snapshotOf({ key }: SnapshotPlace, first: DryOutcome, second: DryOutcome): unknown {
  if (key !== undefined) {
    const value = expectable(common(valueOf(first, key), valueOf(second, key)));
    return value === 'snapshot' ? { equal: value } : value;
  }
  const entries = recorded.flatMap((name) => {
    const value = expectable(common(first[name], second[name]));
    const isEmpty = Array.isArray(value) && value.length === 0;
    return value === undefined || (isEmpty && name === 'skipped') ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** True if a recorded value matches its own outcome. */
export function matchesOutcome(value: unknown, { key }: SnapshotPlace, outcome: DryOutcome): boolean {
  const expected = key === undefined ? value : { [key]: value };
  const problems: unknown[] = [];
  const check = compileExpectation(
    { value: expected, at: [], shape: outcomeShape, isOutcome: true },
    (problem) => void problems.push(problem),
  );
  return problems.length === 0 && check(outcome, '').length === 0;
}

/** Common part of two values; undefined if there is none. A list is whole or left out. */
function common(first: unknown, second: unknown): unknown {
  if (Array.isArray(first)) {
    if (!Array.isArray(second) || first.length !== second.length) return undefined;
    const items = first.map((item, at) => common(item, second[at]));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isRecord(first)) return Object.is(first, second) ? first : undefined;
  if (!isRecord(second)) return undefined;
  const entries = Object.entries(first).flatMap(([key, value]) => {
    const shared = common(value, second[key]);
    return shared === undefined || isGenerated(key, value) ? [] : [[key, shared] as const];
  });
  return entries.length === 0 && Object.keys(first).length > 0 ? undefined : Object.fromEntries(entries);
}

/** True for an id derived from the request, which any change of it changes. */
function isGenerated(key: string, value: unknown): boolean {
  return key.endsWith('id') && typeof value === 'string' && /^[a-z]+[_-][\w-]{16,}$/.test(value);
}

/** A value as an expectation: objects with a key that is the name of a matcher are compared as a whole. */
function expectable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expectable);
  if (!isRecord(value)) return value;
  if (Object.keys(value).some((key) => Object.hasOwn(matchers, key))) return { equal: value };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expectable(inner)]));
}
