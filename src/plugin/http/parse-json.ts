import { isDeeperThan } from '../../kit/schema/json-values.js';
import { GatewayError } from '../contract/error.js';

/**
 * Parses a JSON text. Throws `invalid_json` with line and column of the first error, and `invalid_request`
 * for too deep nesting.
 */
export function parseJson(text: string): unknown {
  const value = parse(text);
  checkDepth(value, text.length);
  return value;
}

/** Throws `invalid_request` for too deep nesting. `length`: of the JSON text. */
export function checkDepth(value: unknown, length: number): void {
  if (!mayBeDeep(length) || !isDeeperThan(maxLevels, value)) return;
  throw new GatewayError('invalid_request', `body: must not be nested more than ${maxLevels} levels deep`);
}

/** Max nesting depth; real bodies have some tens of levels. */
const maxLevels = 500;

/** True if a JSON value is nested so deeply that walking or serializing it could overflow the stack. */
export function isTooDeep(value: unknown, text: string): boolean {
  return mayBeDeep(text.length) && isDeeperThan(maxLevels, value);
}

/** Cheap first check: each level takes two brackets of the text. */
function mayBeDeep(length: number): boolean {
  return length / 2 > maxLevels;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const where = text.length > maxSearched ? '' : `: ${describeBreak(text)}`;
    throw new GatewayError('invalid_json', `The body is not valid JSON${where}.`, { cause });
  }
}

/** Max length of a text that is searched for the error, since a longer search would block all other requests. */
const maxSearched = 4 * 1024 * 1024;

function describeBreak(text: string): string {
  const at = breakOf(text);
  const lines = text.slice(0, at).split('\n');
  const where = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  const [found] = text.slice(at, at + 2);
  return found === undefined
    ? `it ends too early, at ${where}`
    : `unexpected ${JSON.stringify(found)} at ${where}`;
}

const space = sticky(String.raw`[ \t\n\r]*`);
const string = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"`;
const value = String.raw`${string}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[{]`;
const key = String.raw`${string}[ \t\n\r]*:`;

/** Grammar: the possible next tokens, by state. */
const expected = {
  value: sticky(value),
  firstItem: sticky(String.raw`${value}|\]`),
  firstKey: sticky(String.raw`${key}|\}`),
  key: sticky(key),
  afterItem: sticky(String.raw`[,\]]`),
  afterMember: sticky('[,}]'),
  end: sticky('(?!)'),
};

/** Position of the first invalid token. The message of the runtime does not always have it. */
function breakOf(text: string): number {
  const open: string[] = [];
  let next: keyof typeof expected = 'value';
  for (let at = 0; ;) {
    at += matchAt(space, text, at).length;
    const token = matchAt(expected[next], text, at);
    if (token === '') return at;
    at += token.length;
    next = expectedAfter(token, open);
  }
}

function expectedAfter(token: string, open: string[]): keyof typeof expected {
  if (token === '{' || token === '[') open.push(token);
  if (token === '}' || token === ']') open.pop();
  const isInObject = open.at(-1) === '{';
  if (token === '{') return 'firstKey';
  if (token === '[') return 'firstItem';
  if (token === ',') return isInObject ? 'key' : 'value';
  if (token.endsWith(':')) return 'value';
  return open.length === 0 ? 'end' : isInObject ? 'afterMember' : 'afterItem';
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

function sticky(source: string): RegExp {
  return new RegExp(source, 'y');
}
