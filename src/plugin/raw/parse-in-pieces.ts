import { isUtf8 } from 'node:buffer';
import { checkDepth } from '../http/parse-json.js';
import { keepVerbatim, placeholder, type Run } from './verbatim.js';

/**
 * The value of a large JSON body with a list of `messages`, parsed some messages at a time: V8 asks the system for the
 * memory of each string above 128 kB, which costs more than to decode it. Undefined for a body that is small, has no such
 * list, or is not JSON. `isVerbatim`: the messages are kept as the bytes they came as, for `requestBytes`. Throws
 * `invalid_request` for what is nested too deeply.
 */
export function parseInPieces(bytes: Buffer, isVerbatim: boolean): object | undefined {
  if (bytes.length < worthCutting || !isUtf8(bytes)) return undefined;
  const spans = cutMessages(bytes);
  const parsed = spans.length > 0 ? unlessBroken(() => parsePieces(bytes, spans)) : undefined;
  if (!parsed) return undefined;
  const { body, runs } = parsed;
  checkDepth(body, bytes.length);
  if (isVerbatim) keepVerbatim(body, bytes, runs, body.messages.length);
  return body;
}

const worthCutting = 16_384;

/** In smaller ones the calls would cost more, and of larger ones more is written again where a message is changed. */
const pieceBytes = 8192;

/** The text of some messages and of the commas between them; `next` is where the message after them begins. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

/** Cuts before messages that begin as the first one does. Nested objects may do so too: then it has cut wrongly. */
function cutMessages(bytes: Buffer): readonly Span[] {
  const at = Math.max(0, bytes.indexOf('"messages"'));
  const [before, opening] = beginning.exec(bytes.toString('latin1', at, at + 200)) ?? [];
  if (before === undefined || opening === undefined) return [];
  const pattern = Buffer.from(opening);
  const spans: Span[] = [];
  let start = at + before.length - opening.length;
  for (let next = start; (next = bytes.indexOf(pattern, next + pieceBytes)) !== -1;) {
    const end = lastInk(bytes, next);
    if (bytes[end] !== comma) continue;
    spans.push({ start, end, next });
    start = next;
  }
  return spans;
}

/** A list of messages up to the first name in the first one, which by itself is in the group. */
const beginning = /^"messages"\s*:\s*\[\s*(\{\s*"\w+"\s*:)/;

const comma = 0x2c;

/** What JSON takes for it; other control characters make a body that is none. */
const whiteSpace: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The last byte before `at` that is no white space. */
function lastInk(bytes: Buffer, at: number): number {
  let last = at - 1;
  while (whiteSpace.has(bytes[last] ?? NaN)) last -= 1;
  return last;
}

interface Parsed {
  readonly body: { messages: unknown[] };
  readonly runs: readonly Run[];
}

/**
 * Puts a placeholder where the pieces stood. The grammar proves the cuts: where each piece makes a list by itself, and the
 * rest is JSON with a value in their place, the whole is JSON as well and means what its parts mean.
 */
function parsePieces(bytes: Buffer, spans: readonly Span[]): Parsed | undefined {
  const runs = spans.map(({ start, end }): Run => ({ start, end, messages: parseList(bytes, start, end) }));
  const head = bytes.toString('utf8', 0, spans[0]?.start);
  const body: unknown = JSON.parse(`${head}"${placeholder}",${bytes.toString('utf8', spans.at(-1)?.next)}`);
  if (!hasMessages(body) || body.messages[0] !== placeholder) return undefined;
  const [, ...rest] = body.messages;
  body.messages = Array.prototype.concat(...runs.map(({ messages }) => messages), rest); // flatMap takes 20 times as long
  return { body, runs };
}

/** Sets brackets around the messages while it decodes them: a text that is put together is copied once more. */
function parseList(bytes: Buffer, start: number, end: number): readonly unknown[] {
  const before = bytes.readUInt8(start - 1);
  bytes.writeUInt8(brackets[0], start - 1);
  bytes.writeUInt8(brackets[1], end);
  const text = bytes.toString('utf8', start - 1, end + 1);
  bytes.writeUInt8(before, start - 1);
  bytes.writeUInt8(comma, end);
  return JSON.parse(text) as readonly unknown[]; // what stands in brackets
}

const brackets = [0x5b, 0x5d] as const;

function hasMessages(body: unknown): body is Parsed['body'] {
  return typeof body === 'object' && body !== null && 'messages' in body && Array.isArray(body.messages);
}

/** What is broken is parsed once more as a whole, which tells where. */
function unlessBroken<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
