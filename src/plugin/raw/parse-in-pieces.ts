import { isUtf8 } from 'node:buffer';
import { checkDepth } from '../http/parse-json.js';
import { JsonCursor } from '../inputs/json-cursor.js';
import { cutLists, type ListSpan } from './cut-lists.js';
import type { Run } from './raw-list.js';
import { keepRawBody, placeholder } from './raw-messages.js';

/**
 * Parses a large JSON body some `messages` at a time, because V8 is slow to allocate strings above 128 kB;
 * undefined for a body that is small, has no such list, or is not JSON. Throws `invalid_request` for too deep
 * nesting; `isVerbatim` keeps the bytes of messages, tools and system blocks for `requestBytes`.
 */
export function parseInPieces(bytes: Buffer, isVerbatim: boolean): object | undefined {
  if (bytes.length < worthCutting || !isUtf8(bytes)) return undefined;
  const spans = cutMessages(bytes);
  const parsed = spans.length > 0 ? unlessBroken(() => parsePieces(bytes, spans)) : undefined;
  if (!parsed) return undefined;
  const { body, runs, lists } = parsed;
  checkDepth(body, bytes.length);
  if (isVerbatim) keepRawBody(body, { bytes, runs, lists });
  return body;
}

const worthCutting = 16_384;

/**
 * Min size of a piece: smaller ones cost more calls, larger ones more serializing when a message is changed.
 */
const pieceBytes = 8192;

/** Byte range of some messages and the commas between them. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts the list of messages before objects that begin like the first one. A wrong cut, at a nested object, is detected by
 * `parsePieces`. Empty if there is no such list.
 */
function cutMessages(bytes: Buffer): readonly Span[] {
  const at = Math.max(0, bytes.indexOf('"messages"'));
  const [before, opening] = beginning.exec(bytes.toString('latin1', at, at + 200)) ?? [];
  if (before === undefined || opening === undefined) return [];
  const pattern = Buffer.from(opening);
  const spans: Span[] = [];
  let start = at + before.length - opening.length;
  for (let next = start; (next = bytes.indexOf(pattern, next + pieceBytes)) !== -1;) {
    const end = lastNonSpace(bytes, next);
    if (bytes[end] !== comma) continue;
    spans.push({ start, end });
    start = next;
  }
  const end = new JsonCursor(bytes).endOfList(start);
  return end === undefined ? [] : [...spans, { start, end }];
}

/** Start of the message list up to the first key; the group is the start of the first message. */
const beginning = /^"messages"\s*:\s*\[\s*(\{\s*"\w+"\s*:)/;

const comma = 0x2c;

/** JSON white space; other control characters are invalid. */
const whiteSpace: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Offset of the last byte before `at` that is not white space. */
function lastNonSpace(bytes: Buffer, at: number): number {
  let last = at - 1;
  while (whiteSpace.has(bytes[last] ?? NaN)) last -= 1;
  return last;
}

interface Parsed {
  readonly body: Record<string, unknown> & { messages: unknown[] };
  readonly runs: readonly Run[];
  readonly lists: readonly ListSpan[];
}

/**
 * Parses each piece and each other list apart, and the rest with a placeholder in their place. The grammar proves the
 * cuts: if all of these are valid JSON, so is the whole, with the same meaning.
 */
function parsePieces(bytes: Buffer, spans: readonly Span[]): Parsed | undefined {
  const runs = spans.map((span): Run => ({ ...span, items: parseList(bytes, span) }));
  const [headEnd, tailStart] = [spans[0]?.start ?? 0, spans.at(-1)?.end ?? 0];
  const ends = [cutLists(bytes, 0, headEnd), cutLists(bytes, tailStart, bytes.length)] as const;
  const head = textWithout(bytes, 0, headEnd, ends[0]);
  const body: unknown = JSON.parse(
    `${head}"${placeholder}"${textWithout(bytes, tailStart, bytes.length, ends[1])}`,
  );
  if (!hasMessages(body) || body.messages[0] !== placeholder) return undefined;
  body.messages = Array.prototype.concat(...runs.map(({ items }) => items)); // flatMap is much slower
  const lists = ends.flat();
  return fillIn(body, bytes, lists) ? { body, runs, lists } : undefined;
}

/** Text of a part of the body with a placeholder for each list. */
function textWithout(bytes: Buffer, from: number, to: number, lists: readonly ListSpan[]): string {
  let text = '';
  let at = from;
  for (const { start, end } of lists) {
    text += `${bytes.toString('utf8', at, start)}"${placeholder}"`;
    at = end;
  }
  return text + bytes.toString('utf8', at, to);
}

/** Puts the lists in their places; false if one of them is not a field of the body. */
function fillIn(body: Parsed['body'], bytes: Buffer, lists: readonly ListSpan[]): boolean {
  for (const { name, start, end } of lists) {
    if (body[name] !== placeholder) return false;
    body[name] = JSON.parse(bytes.toString('utf8', start, end));
  }
  return true;
}

/** Parses messages as a list. The bytes around them are brackets while their text is made: a copy would cost more. */
function parseList(bytes: Buffer, { start, end }: Span): readonly unknown[] {
  const [before = 0, after = 0] = [bytes[start - 1], bytes[end]];
  bytes[start - 1] = brackets[0];
  bytes[end] = brackets[1];
  try {
    return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as readonly unknown[]; // a JSON text in brackets is an array
  } finally {
    bytes[start - 1] = before;
    bytes[end] = after;
  }
}

const brackets = [0x5b, 0x5d] as const;

function hasMessages(body: unknown): body is Parsed['body'] {
  return typeof body === 'object' && body !== null && 'messages' in body && Array.isArray(body.messages);
}

/**
 * Runs `parse`; undefined on a SyntaxError, because the body is then parsed as a whole to locate the error.
 */
function unlessBroken<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
