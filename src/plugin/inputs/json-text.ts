/** Facts about a JSON text that its value does not show. */
export interface JsonFacts {
  /** True if a number would be written differently: `1.0`, `12345678901234567890`. */
  readonly changesNumbers: boolean;
  /** Number of members of all objects, repeated keys included. */
  readonly members: number;
}

/** Reads the facts of a valid JSON text, in linear time. */
export function jsonFacts(json: string): JsonFacts {
  let changesNumbers = false;
  let members = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === quote) at = stringEnd(json, at + 1);
    else if (code === minus || isDigit(code)) {
      const end = numberEnd(json, at);
      const number = json.slice(at, end);
      changesNumbers ||= String(Number(number)) !== number;
      at = end;
    } else {
      if (code === colon) members += 1;
      at += 1;
    }
  }
  return { changesNumbers, members };
}

/** Position behind the closing quote of a string; the text's length for one that is cut. `from`: behind its opening quote. */
export function stringEnd(json: string, from: number): number {
  for (let at = from; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return json.length;
}

function numberEnd(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && isInNumber(json.charCodeAt(at))) at += 1;
  return at;
}

function isInNumber(code: number): boolean {
  return isDigit(code) || code === dot || code === plus || code === minus || (code | 0x20) === letterE;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const backslash = 0x5c;
const letterE = 0x65;
