import { isRecord } from '../../../kit/schema/record.js';
import { keepInput, keptInput } from '../../inputs/kept-inputs.js';
import { changedJson } from './changed-json.js';

/**
 * The value of a reply, in which every part that equals the part of `live` in its place is that same object; `live`
 * itself if all are equal. Changed objects keep the marks of those in their place.
 */
export function merged(live: unknown, next: unknown): unknown {
  if (Array.isArray(live) && Array.isArray(next)) return mergedList(live, next);
  if (isRecord(live) && isRecord(next)) return mergedObject(live, next);
  return live === next ? live : next;
}

/** True for equal values of JSON; a field that is undefined counts as absent. */
export function isSame(live: unknown, next: unknown): boolean {
  if (live === next) return true;
  if (Array.isArray(live))
    return (
      Array.isArray(next) && live.length === next.length && live.every((item, at) => isSame(item, next[at]))
    );
  if (!isRecord(live) || !isRecord(next)) return false;
  const names = Object.keys(next);
  return (
    names.length === countFields(live) &&
    names.every((name) => Object.hasOwn(live, name) && isSame(live[name], next[name]))
  );
}

type List = readonly unknown[];
type Fields = Readonly<Record<string, unknown>>;

/** Equal items at both ends are the same; those between are changed ones if their number is the same, else new. */
function mergedList(live: List, next: List): List {
  const shorter = Math.min(live.length, next.length);
  let start = 0;
  while (start < shorter && isSame(live[start], next[start])) start += 1;
  if (start === live.length && start === next.length) return live;
  let end = 0;
  while (end < shorter - start && isSame(live.at(-1 - end), next.at(-1 - end))) end += 1;
  const between = next.slice(start, next.length - end);
  const isPaired = live.length === next.length;
  return [
    ...live.slice(0, start),
    ...(isPaired ? between.map((item, at) => merged(live[start + at], item)) : between),
    ...live.slice(live.length - end),
  ];
}

function mergedObject(live: Fields, next: Fields): Fields {
  if (isAnother(live, next)) return next;
  const entries = Object.entries(next).map(
    ([name, part]) => [name, Object.hasOwn(live, name) ? merged(live[name], part) : part] as const,
  );
  const isUnchanged =
    entries.length === countFields(live) && entries.every(([name, part]) => part === live[name]);
  return isUnchanged ? live : withMarks(Object.fromEntries(entries), live);
}

/** True for an object that is not a version of `live`, but stands in its place. */
function isAnother(live: Fields, next: Fields): boolean {
  return ['type', 'role', 'id', 'tool_use_id', 'name'].some(
    (name) => live[name] !== undefined && live[name] !== next[name],
  );
}

/** Copies the marks of an object: its extras, and the texts of its numbers if it is the input of a tool. */
function withMarks(changed: Record<PropertyKey, unknown>, live: Fields): Fields {
  for (const mark of Object.getOwnPropertySymbols(live))
    if (Object.prototype.propertyIsEnumerable.call(live, mark))
      changed[mark] = (live as Readonly<Record<symbol, unknown>>)[mark]; // just listed
  const text = keptInput(live);
  if (text !== undefined) keepInput(changed, changedJson(text, live, changed));
  return changed;
}

function countFields(live: Fields): number {
  let count = 0;
  for (const name of Object.keys(live)) if (live[name] !== undefined) count += 1;
  return count;
}
