import { randomUUID } from 'node:crypto';
import { keptInput } from './kept-inputs.js';

/** Random text that occurs in no other text. */
const placeholder = randomUUID();

/**
 * JSON text of a message, a request, a list of messages, or an event: as `JSON.stringify` writes it, but with
 * the kept inputs of its tools as they came.
 */
export function jsonWithInputs(value: unknown): string {
  const texts: string[] = [];
  const marked = markedValue(value, texts);
  const json = JSON.stringify(marked);
  if (texts.length === 0) return json;
  const [first = '', ...rest] = json.split(`"${placeholder}"`);
  return first + rest.map((piece, at) => `${texts[at] ?? ''}${piece}`).join('');
}

/** The value of a JSON body, or its text where that has kept inputs, which only the text can show. */
export function bodyWithInputs(value: unknown): unknown {
  return markedValue(value, []) === value ? value : jsonWithInputs(value);
}

/** The value with placeholders for the inputs whose texts are added; the value itself if there are none. */
function markedValue(value: unknown, texts: string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapped(value, (message) => markedValue(message, texts));
  const fields = value as Readonly<Record<string, unknown>>; // any object may be read by name
  const name = Object.keys(marks).find((each) => typeof fields[each] === 'object');
  const mark = name === undefined ? undefined : marks[name];
  if (name === undefined || !mark) return value;
  const marked = mark(fields[name], texts);
  return marked === fields[name] ? value : { ...value, [name]: marked };
}

/** Holder of inputs: a request with messages, a message with blocks, an event with either. */
const marks: Readonly<Record<string, (value: unknown, texts: string[]) => unknown>> = {
  messages: markedValue,
  message: markedValue,
  content: (blocks, texts) =>
    Array.isArray(blocks) ? mapped(blocks, (block) => markedBlock(block, texts)) : blocks,
  content_block: markedBlock,
};

function markedBlock(block: unknown, texts: string[]): unknown {
  if (typeof block !== 'object' || block === null || !('input' in block)) return block;
  const text = keptInput(block.input);
  if (text === undefined) return block;
  texts.push(text);
  return { ...block, input: placeholder };
}

/** The list itself if no item changes. */
function mapped(list: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  list.forEach((item, at) => {
    const other = map(item);
    if (other !== item) (changed ??= [...list])[at] = other;
  });
  return changed ?? list;
}
