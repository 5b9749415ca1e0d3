import { jsonFields } from 'gw2api/plugin/upstream';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';

const defaultMaxTokens = 4096;

/** A Chat request, as this upstream writes it, as one of the Messages API; settings that change no answer are left out. */
export function asMessages(chat: Fields): object {
  const all = listOf(chat['messages']).map(fieldsOf);
  const system = all.filter(isSystem).flatMap(({ content }) => blocksOf(content));
  const tools = listOf(chat['tools']).map((tool) => toolOf(fieldsOf(fieldsOf(tool)['function'])));
  return {
    model: chat['model'],
    max_tokens: chat['max_completion_tokens'] ?? chat['max_tokens'] ?? defaultMaxTokens,
    messages: turnsOf(all.filter((message) => !isSystem(message))),
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools, ...choiceOf(chat['tool_choice']) }),
    stream: true,
  };
}

function isSystem({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: object[];
}

/** Messages, those of one role in a row as one turn. */
function turnsOf(messages: readonly Fields[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const role = message['role'] === 'assistant' ? 'assistant' : 'user';
    const content =
      message['role'] === 'tool'
        ? [resultOf(message)]
        : [...blocksOf(message['content']), ...callsOf(message)];
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function blocksOf(content: unknown): object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOf(content).map((part) => {
    const { type, text, image_url: image } = fieldsOf(part);
    return type === 'image_url' ? imageOf(textOf(fieldsOf(image)['url'])) : { type: 'text', text };
  });
}

function imageOf(url: string): object {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType, data };
  return { type: 'image', source };
}

function callsOf(message: Fields): object[] {
  return listOf(message['tool_calls']).map((call) => {
    const { id, function: called } = fieldsOf(call);
    const { name, arguments: text } = fieldsOf(called);
    return { type: 'tool_use', id, name, input: jsonFields(textOf(text)) };
  });
}

function resultOf({ tool_call_id: id, content }: Fields): object {
  return { type: 'tool_result', tool_use_id: id, content: blocksOf(content) };
}

function toolOf({ name, description, parameters }: Fields): object {
  const schema = { type: 'object', ...fieldsOf(parameters) };
  return { name, ...(typeof description === 'string' && { description }), input_schema: schema };
}

function choiceOf(choice: unknown): object {
  if (choice === 'required') return { tool_choice: { type: 'any' } };
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const { name } = fieldsOf(fieldsOf(choice)['function']);
  return name === undefined ? {} : { tool_choice: { type: 'tool', name } };
}
