import { jsonFields } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, textOf, type Fields } from '../fields.js';

/** Limit of a request without one, which the Messages API requires. */
export const defaultMaxTokens = 4096;

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly object[];
}

/** Turns; merges consecutive ones of one role. */
export function mergedTurns(turns: readonly Turn[]): readonly Turn[] {
  const merged: { readonly role: Turn['role']; readonly content: object[] }[] = [];
  for (const { role, content } of turns) {
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content: [...content] });
  }
  return merged;
}

export function imageOf(url: string): object {
  return { type: 'image', source: sourceOf(url) };
}

export function documentOf(url: string): object {
  return { type: 'document', source: sourceOf(url) };
}

/** Source of a block: the bytes of a data URL, or any other address. */
function sourceOf(url: string): object {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data };
}

/** Tool use of a called function, whose arguments are a text. */
export function toolUseOf(id: unknown, { name, arguments: text }: Fields): object {
  return { type: 'tool_use', id, name, input: jsonFields(textOf(text)) };
}

/** Tools and the choice among them; `choice` is a word, or an object with the function to call. */
export function toolFields(functions: readonly Fields[], choice: unknown, chosen: Fields): object {
  if (functions.length === 0) return {};
  return { tools: functions.map(toolOf), ...choiceOf(choice, chosen) };
}

function toolOf({ name, description, parameters }: Fields): object {
  const schema = { type: 'object', ...fieldsOf(parameters) };
  return { name, ...(typeof description === 'string' && { description }), input_schema: schema };
}

function choiceOf(choice: unknown, { name }: Fields): object {
  if (choice === 'required') return { tool_choice: { type: 'any' } };
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  return name === undefined ? {} : { tool_choice: { type: 'tool', name } };
}
