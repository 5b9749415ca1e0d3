import { fromBinaryString, type BinaryString, type RawLines } from './binary-string.js';
import type { ContentBlockDeltaEvent } from '../contract/messages.js';

/** Text delta, cut out of its JSON. */
export interface PlainDelta {
  /** Index of the block that the text belongs to. */
  readonly index: number;
  readonly text: string;
  /** The text as `JSON.stringify` would write it, without the quotes. */
  readonly json: BinaryString;
}

/**
 * End of a text delta that begins at `at` and is written in the usual form: its name, then only the known
 * fields in their usual order, no white space except padding before the last brace, only necessary escapes.
 * Returns `at` for anything else; much cheaper than parsing JSON.
 */
export function plainDeltaEnd(bytes: BinaryString, at: number): number {
  if (bytes.length > maxSearched) return at;
  plain.lastIndex = at;
  return plain.test(bytes) ? plain.lastIndex : at;
}

/** Cuts a plain text delta out of these lines, from one offset to another. */
export function cutPlainDelta({ bytes, isAscii }: RawLines, from: number, to: number): PlainDelta {
  const indexAt = from + head.length;
  const indexEnd = bytes.charCodeAt(indexAt + 1) === comma ? indexAt + 1 : bytes.indexOf(',', indexAt);
  const end = bytes.charCodeAt(to - 5) === quote ? to - 5 : bytes.lastIndexOf('"', to);
  const json = bytes.slice(indexEnd + middle.length, end) as BinaryString; // a slice of a BinaryString
  return { index: Number(bytes.slice(indexAt, indexEnd)), text: textIn(json, isAscii), json };
}

function textIn(json: BinaryString, isAscii: boolean): string {
  if (isAscii ? !json.includes('\\') : !special.test(json)) return json;
  const text = fromBinaryString(json);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text; // a JSON string
}

const special = /[\\\u0080-\u00ff]/;

/** Parsed event of a plain delta. */
export function deltaEvent({ index, text }: PlainDelta): ContentBlockDeltaEvent {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
}

/**
 * Max length searched, more than one read brings. The regular expression keeps every escape on its stack,
 * which overflows at some millions.
 */
const maxSearched = 1024 * 1024;

const head = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
const middle = ',"delta":{"type":"text_delta","text":"';
const comma = 0x2c;
const quote = 0x22;

/** Unescaped characters of a JSON string. */
const bare = String.raw`[^"\\\u0000-\u001f]*`;
/** Text without numbered escapes: `JSON.stringify` writes most of those characters unescaped. */
const text = String.raw`${bare}(?:\\["\\bfnrt]${bare})*`;
/** Index of the block, only up to 9 digits: exact as a number. */
const index = String.raw`(?:0|[1-9]\d{0,8})`;
const plain = new RegExp(`${literal(head)}${index}${literal(middle)}${text}"\\} *\\}\n\n`, 'y');

function literal(text: string): string {
  return text.replaceAll(/[{}]/g, String.raw`\$&`);
}
