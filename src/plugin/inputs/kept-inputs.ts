import { isDeepStrictEqual } from 'node:util';
import { jsonFacts } from './json-text.js';

/** Deferred search of a request body, which finds and keeps the JSON texts of all its tool inputs at once. */
export interface InputSearch {
  run(): void;
}

/**
 * Key of an input's JSON text, in the object that was parsed from it; not enumerable, so that neither copies nor
 * comparisons have it. A WeakMap of the inputs of all requests took a sixth of an agent's turn, mostly in the collector.
 */
const keptText = Symbol.for('gw2api.inputText');

interface MaybeKept {
  [keptText]?: string | InputSearch | undefined;
}

function keep(input: MaybeKept, text: string | InputSearch): void {
  if (keptText in input) input[keptText] = text;
  else if (Object.isExtensible(input))
    Object.defineProperty(input, keptText, { value: text, writable: true });
}

/**
 * Keeps the JSON text of a tool's input if its numbers would change on serialization. A text with repeated keys is not
 * kept, since readers interpret it differently.
 */
export function keepInput(input: unknown, json: string): void {
  if (typeof input !== 'object' || input === null || !hasNumber(input)) return;
  const { changesNumbers, members } = jsonFacts(json);
  if (changesNumbers && members === countMembers(input)) keep(input, json);
}

/** Searches the text of an input on first use. */
export function searchInput(input: object, search: InputSearch): void {
  keep(input, search);
}

/** Forgets an input whose text needs no keeping. */
export function forgetInput(input: MaybeKept): void {
  if (keptText in input) input[keptText] = undefined;
}

/** Kept text of an input; undefined for one without, or one that has been changed since. */
export function keptInput(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const { [keptText]: found } = input as MaybeKept; // any object may have it
  if (found === undefined) return undefined;
  if (typeof found !== 'string') {
    found.run();
    if ((input as MaybeKept)[keptText] === found) forgetInput(input);
    return keptInput(input);
  }
  return isDeepStrictEqual(JSON.parse(found), input) ? found : undefined;
}

/** JSON text of a tool's input, with unchanged numbers. */
export function inputJson(input: unknown): string {
  return keptInput(input) ?? JSON.stringify(input ?? {});
}

/** True if there is a number in a value of JSON. */
export function hasNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (hasNumber((value as Record<string, unknown>)[name])) return true; // JSON has no other objects
  return false;
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: readonly unknown[] = Object.values(value);
  return parts.reduce<number>(
    (sum, part) => sum + countMembers(part),
    Array.isArray(value) ? 0 : parts.length,
  );
}
