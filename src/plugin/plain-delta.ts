import type { ContentBlockDeltaEvent } from './messages.js';

/**
 * The event that a text delta stands for where it is written as nearly all are: nothing but the known fields, in their
 * usual order, without white space, and no character of the text escaped. Undefined for every other JSON text, which then
 * has to be parsed; cutting takes 0.3 µs in place of 0.75.
 */
export function plainTextDelta(data: string): ContentBlockDeltaEvent | undefined {
  const [, index, text] = plain.exec(data) ?? [];
  if (index === undefined || text === undefined) return undefined;
  return { type: 'content_block_delta', index: Number(index), delta: { type: 'text_delta', text } };
}

/** Of the index only what is exact as a number; of the text only what JSON lets stand for itself. */
const plain =
  // oxlint-disable-next-line no-control-regex
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":\{"type":"text_delta","text":"([^"\\\u0000-\u001f]*)"\}\}$/;
