import { isRecord } from '../../kit/schema/record.js';

/** Keys and indices into a value; a negative index counts from the end of a list. */
export type ValuePath = readonly (string | number)[];

const segment = /\[(-?\d+)\]|([^.[\]]+)/g;

/** Path of a text such as `choices[0].message.content` or `events[-1].data`; undefined if it is not one. */
export function parsePath(text: string): ValuePath | undefined {
  const path: (string | number)[] = [];
  let end = 0;
  for (const { 0: whole, 1: index, 2: name, index: start } of text.matchAll(segment)) {
    const between = text.slice(end, start);
    const isJoined = between === (index === undefined && end > 0 ? '.' : '');
    if (!isJoined) return undefined;
    path.push(index === undefined ? String(name) : Number(index));
    end = start + whole.length;
  }
  return end === text.length && path.length > 0 ? path : undefined;
}

/** Value that a key of an expectation names: by an exact key if it exists, else by a path; undefined if absent. */
export function valueOf(root: unknown, key: string): unknown {
  if (isRecord(root) && Object.hasOwn(root, key)) return root[key];
  return parsePath(key)?.reduce<unknown>(step, root);
}

function step(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) {
    const index = typeof key === 'number' ? key : /^-?\d+$/.test(key) ? Number(key) : NaN;
    return (value as readonly unknown[]).at(Number.isNaN(index) ? value.length : index);
  }
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
