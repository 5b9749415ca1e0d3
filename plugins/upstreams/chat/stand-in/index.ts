import { openaiStandIn } from '../../shared/openai/openai-stand-in.js';
import { ChunkWriter } from './chunks.js';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';
import {
  defaultMaxTokens,
  documentOf,
  imageOf,
  mergedTurns,
  toolFields,
  toolUseOf,
  type Turn,
} from '../../shared/openai/messages-parts.js';

/** Answers as a Chat server does, from the answers of a Messages service. */
export const standIn = openaiStandIn({
  asMessages,
  openWriter() {
    const writer = new ChunkWriter();
    return (event) => writer.write(event);
  },
});

/** A Chat request, as this upstream writes it, as one of the Messages API; settings that change no answer are left out. */
function asMessages(chat: Fields): object {
  const all = listOf(chat['messages']).map(fieldsOf);
  const system = all.filter(isSystem).flatMap(({ content }) => blocksOf(content));
  const functions = listOf(chat['tools']).map((tool) => fieldsOf(fieldsOf(tool)['function']));
  const choice = chat['tool_choice'];
  return {
    model: chat['model'],
    max_tokens: chat['max_completion_tokens'] ?? chat['max_tokens'] ?? defaultMaxTokens,
    messages: mergedTurns(all.filter((message) => !isSystem(message)).map(turnOf)),
    ...(system.length > 0 && { system }),
    ...toolFields(functions, choice, fieldsOf(fieldsOf(choice)['function'])),
    stream: true,
  };
}

function isSystem({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

function turnOf(message: Fields): Turn {
  if (message['role'] === 'tool') return { role: 'user', content: [resultOf(message)] };
  return {
    role: message['role'] === 'assistant' ? 'assistant' : 'user',
    content: [...blocksOf(message['content']), ...callsOf(message)],
  };
}

function blocksOf(content: unknown): object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOf(content).map((part) => {
    const { type, text, image_url: image, file } = fieldsOf(part);
    if (type === 'image_url') return imageOf(textOf(fieldsOf(image)['url']));
    if (type === 'file') return documentOf(textOf(fieldsOf(file)['file_data']));
    return { type: 'text', text };
  });
}

function callsOf(message: Fields): object[] {
  return listOf(message['tool_calls']).map((call) => {
    const { id, function: called } = fieldsOf(call);
    return toolUseOf(id, fieldsOf(called));
  });
}

function resultOf({ tool_call_id: id, content }: Fields): object {
  return { type: 'tool_result', tool_use_id: id, content: blocksOf(content) };
}
