import type { ContentBlockDeltaEvent } from './messages.js';

/**
 * The event that a text delta stands for where it is written as nearly all are: nothing but the known fields, in their
 * usual order, without white space, and no character of the text escaped. Undefined for every other JSON text, which then
 * has to be parsed; cutting takes 0.3 µs in place of 0.75.
 */
export function plainTextDelta(data: string): ContentBlockDeltaEvent | undefined {
  const [, index, said] = plain.exec(data) ?? [];
  if (index === undefined || said === undefined) return undefined;
  return { type: 'content_block_delta', index: Number(index), delta: { type: 'text_delta', text: said } };
}

/** What JSON lets stand for itself in a text. */
const text = String.raw`[^"\\\u0000-\u001f]*`;
const delta = String.raw`\{"type":"text_delta","text":"(${text})"\}`;
/** Of the index only what is exact as a number. */
const plain = new RegExp(
  String.raw`^\{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":${delta}\}$`,
);
