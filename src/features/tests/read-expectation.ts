import type { Path } from '../../config/document.js';
import { isRecord } from '../../kit/schema/record.js';
import type { NamedPipeline, NamedSlot, SnapshotPlace } from './config-test.js';
import { compileExpectation } from './expectation.js';
import { matchers } from './matchers.js';
import type { Check, Complain } from './mismatch.js';
import { outcomeShape, shapeAt } from './outcome-shape.js';
import { parsePath } from './value-path.js';

/** Placeholder for a value, which `--update` replaces. */
const snapshot = 'snapshot';

/** Reads the expectations of a request about its outcome. */
export function readExpectation(
  raw: unknown,
  at: Path,
  complain: Complain,
): { readonly check: Check; readonly snapshots: readonly SnapshotPlace[] } {
  if (raw === undefined) return { check: () => [], snapshots: [] };
  if (raw === snapshot) return { check: () => [], snapshots: [{ at }] };
  if (!isRecord(raw)) {
    complain({ path: at, message: 'must be an object such as { status: 200 }, or "snapshot"' });
    return { check: () => [], snapshots: [] };
  }
  const keys = Object.keys(raw).filter((key) => raw[key] === snapshot);
  for (const key of keys) complainOfKey(key, [...at, key], complain);
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !keys.includes(key)));
  return {
    check: compileExpectation({ value: rest, at, shape: outcomeShape, isOutcome: true }, complain),
    snapshots: keys.map((key) => ({ at: [...at, key], key })),
  };
}

function complainOfKey(key: string, at: Path, complain: Complain): void {
  const shape = shapeAt(outcomeShape, parsePath(key) ?? [key]);
  if (typeof shape === 'object' && 'fault' in shape) complain({ path: at, message: shape.fault });
}

/** Keys of an expectation that name a key of the outcome, or a value within it. */
export function namedKeys(expect: unknown, name: string): readonly string[] {
  return isRecord(expect) ? Object.keys(expect).filter((key) => parsePath(key)?.[0] === name) : [];
}

/** Slots whose state an expectation names: `slots: { a: … }`, `slots.a.state: …`. */
export function slotsNamed(expect: unknown, at: Path): readonly NamedSlot[] {
  if (!isRecord(expect)) return [];
  return Object.entries(expect).flatMap(([key, value]) => {
    if (key.startsWith('slots.')) return [{ path: key.slice('slots.'.length), at: [...at, key] }];
    const keys = key === 'slots' && isRecord(value) ? Object.keys(value) : [];
    if (keys.some((word) => Object.hasOwn(matchers, word))) return [];
    return keys.map((path) => ({ path, at: [...at, key, path] }));
  });
}

/** The pipeline that an expectation names by a plain value: `pipeline: red`. */
export function pipelinesNamed(expect: unknown, at: Path): readonly NamedPipeline[] {
  const name = isRecord(expect) ? expect['pipeline'] : undefined;
  return typeof name === 'string' && name !== snapshot ? [{ name, at: [...at, 'pipeline'] }] : [];
}
