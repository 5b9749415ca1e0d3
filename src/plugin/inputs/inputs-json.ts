import { randomUUID } from 'node:crypto';
import { keptInput } from './kept-inputs.js';

/** Random text that occurs in no other text. */
const placeholder = randomUUID();

/**
 * JSON text of a message, a request, a list of messages, or an event, as `JSON.stringify` writes it, but with unchanged
 * texts of its kept tool inputs.
 */
export function jsonWithInputs(value: unknown): string {
  const texts: string[] = [];
  const marked = markedValue(value, texts);
  const json = JSON.stringify(marked);
  if (texts.length === 0) return json;
  const [first = '', ...rest] = json.split(`"${placeholder}"`);
  return first + rest.map((piece, at) => `${texts[at] ?? ''}${piece}`).join('');
}

/** The value of a JSON body, or its text if that has kept inputs, which only the text can show. */
export function bodyWithInputs(value: unknown): unknown {
  return markedValue(value, []) === value ? value : jsonWithInputs(value);
}

/** The value with placeholders for the inputs whose texts are added; the value itself if there are none. */
function markedValue(value: unknown, texts: string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapped(value, (message) => markedValue(message, texts));
  const { messages, message, content, content_block: block } = value as Holder;
  if (typeof messages === 'object') return withMember(value, 'messages', markedValue(messages, texts));
  if (typeof message === 'object') return withMember(value, 'message', markedValue(message, texts));
  if (Array.isArray(content)) return withMember(value, 'content', markedBlocks(content, texts));
  if (block === undefined) return value;
  return withMember(value, 'content_block', markedBlock(block, texts));
}

/** Holder of inputs: a request with messages, a message with blocks, an event with either; any object may be read as one. */
type Holder = Readonly<Record<'messages' | 'message' | 'content' | 'content_block', unknown>>;

function withMember(holder: object, name: keyof Holder, member: unknown): object {
  return (holder as Holder)[name] === member ? holder : { ...holder, [name]: member };
}

function markedBlocks(blocks: readonly unknown[], texts: string[]): readonly unknown[] {
  return mapped(blocks, (block) => markedBlock(block, texts));
}

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
  for (let at = 0; at < list.length; at += 1) {
    const other = map(list[at]);
    if (other !== list[at]) (changed ??= [...list])[at] = other;
  }
  return changed ?? list;
}
