import { isDeepStrictEqual } from 'node:util';
import { stringEnd } from './json-text.js';
import { hasNumber, keepInput } from './kept-inputs.js';
import { isRecord } from '../../kit/schema/record.js';

/**
 * Keeps the numbers in the arguments of tool calls that are objects instead of texts, in linear time. `value`: parsed
 * from `json`, or a part of that.
 */
export function keepArguments(value: unknown, json: string): void {
  const objects = argumentsIn(value);
  if (!objects.some(hasNumber)) return;
  keepFound(objects, argumentTexts(json));
}

/** Keeps the text of each object; others may stand between them. */
function keepFound(objects: readonly object[], texts: readonly string[]): void {
  let next = 0;
  for (const object of objects) {
    while (next < texts.length && !isDeepStrictEqual(JSON.parse(texts[next] ?? ''), object)) next += 1;
    const text = texts[next];
    if (text === undefined) return;
    keepInput(object, text);
    next += 1;
  }
}

/** Objects that are `arguments`, in the order of their text. */
function argumentsIn(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(argumentsIn);
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    name === 'arguments' && isRecord(member) ? [member] : argumentsIn(member),
  );
}

/** Texts of the objects that are `arguments`. */
function argumentTexts(json: string): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < json.length;) {
    if (json.charCodeAt(at) !== quote) {
      at += 1;
      continue;
    }
    const end = stringEnd(json, at + 1);
    const begin = json.slice(at, end) === key ? objectAt(json, end) : undefined;
    at = begin === undefined ? end : objectEnd(json, begin);
    if (begin !== undefined) texts.push(json.slice(begin, at));
  }
  return texts;
}

/** Position of the object that follows a key; undefined for another value. */
function objectAt(json: string, from: number): number | undefined {
  beforeObject.lastIndex = from;
  return beforeObject.test(json) ? beforeObject.lastIndex - 1 : undefined;
}

function objectEnd(json: string, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = stringEnd(json, at + 1) - 1;
    else if (code === open) depth += 1;
    else if (code === close && (depth -= 1) === 0) return at + 1;
  }
  return json.length;
}

const key = '"arguments"';
const beforeObject = /\s*:\s*\{/y;
const quote = 0x22;
const open = 0x7b;
const close = 0x7d;
