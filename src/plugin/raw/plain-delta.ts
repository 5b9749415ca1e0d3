import { fromByteText, type ByteText } from './byte-text.js';
import type { ContentBlockDeltaEvent } from '../contract/messages.js';
import type { WireLines } from './wire.js';

/** What a text delta says, cut out of its JSON. */
export interface PlainDelta {
  /** Of the block that the text belongs to. */
  readonly index: number;
  readonly text: string;
  /** The text as `JSON.stringify` would write it, without the quotes. */
  readonly json: ByteText;
}

/**
 * Where a text delta ends that begins at `at` and is written as nearly all are: its name, then nothing but the known fields
 * in their usual order, without white space but for the padding before the last brace, and escaped only what has to be.
 * `at` itself where there is something else. A look of 0.1 µs, in place of 0.9 for its JSON.
 */
export function plainDeltaEnd(bytes: ByteText, at: number): number {
  if (bytes.length > mostSearched) return at;
  plain.lastIndex = at;
  return plain.test(bytes) ? plain.lastIndex : at;
}

/** What such a delta says, which stands in these lines from one place to another. */
export function cutPlainDelta({ bytes, isAscii }: WireLines, from: number, to: number): PlainDelta {
  const indexAt = from + head.length;
  const indexEnd = bytes.charCodeAt(indexAt + 1) === comma ? indexAt + 1 : bytes.indexOf(',', indexAt);
  const end = bytes.charCodeAt(to - 5) === quote ? to - 5 : bytes.lastIndexOf('"', to);
  const json = bytes.slice(indexEnd + middle.length, end) as ByteText; // a part of bytes
  return { index: Number(bytes.slice(indexAt, indexEnd)), text: textIn(json, isAscii), json };
}

function textIn(json: ByteText, isAscii: boolean): string {
  if (isAscii ? !json.includes('\\') : !special.test(json)) return json;
  const text = fromByteText(json);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text; // a JSON string
}

const special = /[\\\u0080-\u00ff]/;

/** The event that it stands for. */
export function deltaEvent({ index, text }: PlainDelta): ContentBlockDeltaEvent {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
}

/** A read brings less. The expression remembers every escape, of which ten million are more than its stack holds. */
const mostSearched = 1024 * 1024;

const head = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
const middle = ',"delta":{"type":"text_delta","text":"';
const comma = 0x2c;
const quote = 0x22;

/** What JSON lets stand for itself in a string. */
const bare = String.raw`[^"\\\u0000-\u001f]*`;
/** Of the numbered escapes none: `JSON.stringify` writes most of what they stand for as it is. */
const text = String.raw`${bare}(?:\\["\\bfnrt]${bare})*`;
/** Of the index only what is exact as a number. */
const index = String.raw`(?:0|[1-9]\d{0,8})`;
const plain = new RegExp(`${literal(head)}${index}${literal(middle)}${text}"\\} *\\}\n\n`, 'y');

function literal(text: string): string {
  return text.replaceAll(/[{}]/g, String.raw`\$&`);
}
