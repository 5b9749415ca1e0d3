const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const space = 0x20;
const opening: readonly [number, number] = [0x5b, 0x7b];
const closing: readonly [number, number] = [0x5d, 0x7d];

/**
 * True if a JSON text has more than `max` values (1 or more), nested ones included, keys not. A linear scan,
 * because parsing millions of tiny values takes seconds and far more memory than their text.
 */
export function hasMoreValues(json: Buffer, max: number): boolean {
  return excessOf(json, { values: max, fields: Infinity }) !== undefined;
}

/** Max values of a JSON text as in `hasMoreValues`, and max items or fields of its outermost list or object. */
export interface JsonBounds {
  readonly values: number;
  readonly fields: number;
}

/** Bound that a JSON text exceeds first; undefined for none. A linear scan. */
export function excessOf(json: Buffer, { values, fields }: JsonBounds): keyof JsonBounds | undefined {
  // Each value but the first comes after a comma or is the first in its brackets.
  let valuesLeft = values - 1;
  let fieldsLeft = fields - 1;
  let depth = 0;
  let isFirst = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? space;
    if (byte <= space) continue;
    const isClosing = byte === closing[0] || byte === closing[1];
    if (byte === comma || (isFirst && !isClosing)) {
      if ((valuesLeft -= 1) < 0) return 'values';
      if (depth === 1 && byte === comma && (fieldsLeft -= 1) < 0) return 'fields';
    }
    isFirst = byte === opening[0] || byte === opening[1];
    if (isFirst) depth += 1;
    else if (isClosing) depth -= 1;
    else if (byte === quote) at = endOfString(json, at + 1);
  }
  return undefined;
}

/** Max string length that is scanned byte by byte; longer strings use the faster `indexOf`. */
const shortBytes = 32;

/** The position of the quote that ends a string; `start`: its first character. */
function endOfString(json: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const near = Math.min(at + shortBytes, json.length);
    for (; at < near; at += 1) {
      if (json[at] === quote) return at;
      if (json[at] === backslash) at += 1;
    }
    const end = json.indexOf(quote, at);
    if (end === -1) return json.length;
    if (!isEscaped(json, at, end)) return end;
    at = end + 1;
  }
}

/** True if an odd number of backslashes stands before `at`; none before `start` counts. */
function isEscaped(json: Buffer, start: number, at: number): boolean {
  let first = at;
  while (first > start && json[first - 1] === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/**
 * True for a JSON value of more levels than these. Plain loops, because it visits every value of every body:
 * `Object.values(value).some` is much slower.
 */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const part of value) if (isDeeperThan(levels - 1, part)) return true;
    return false;
  }
  const parts = value as Readonly<Record<string, unknown>>; // JSON has no other objects
  for (const name in parts) if (isDeeperThan(levels - 1, parts[name])) return true;
  return false;
}
