import { openaiStandIn } from '../../shared/openai/openai-stand-in.js';
import { ResponseWriter } from './response-writer.js';
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

/** Answers as a server of the Responses API does, from the answers of a Messages service. */
export const standIn = openaiStandIn({
  asMessages,
  openWriter() {
    const writer = new ResponseWriter();
    return (event) => writer.write(event);
  },
});

/**
 * A request of the Responses API, as this upstream writes it, as one of the Messages API; settings that change no
 * answer are left out.
 */
function asMessages(given: Fields): object {
  const { model, instructions, max_output_tokens: limit = defaultMaxTokens, tool_choice: choice } = given;
  const items = listOf(given['input']).map(fieldsOf);
  const system = [
    ...blocksOf(instructions),
    ...items.filter(isSystem).flatMap(({ content }) => blocksOf(content)),
  ];
  return {
    model,
    max_tokens: limit,
    messages: mergedTurns(items.filter((item) => !isSystem(item)).flatMap(turnOf)),
    ...(system.length > 0 && { system }),
    ...toolFields(listOf(given['tools']).map(fieldsOf), choice, fieldsOf(choice)),
    stream: true,
  };
}

function isSystem({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

/** Turn of an item; none for reasoning, which this service has not sealed. */
function turnOf(item: Fields): readonly Turn[] {
  const { type, role, content, call_id: id, output } = item;
  if (type === 'reasoning') return [];
  if (type === 'function_call') return [{ role: 'assistant', content: [toolUseOf(id, item)] }];
  if (type === 'function_call_output') {
    const result = { type: 'tool_result', tool_use_id: id, content: blocksOf(output) };
    return [{ role: 'user', content: [result] }];
  }
  return [{ role: role === 'assistant' ? 'assistant' : 'user', content: blocksOf(content) }];
}

function blocksOf(content: unknown): readonly object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOf(content).map((part) => {
    const { type, text, image_url: image, file_url: url, file_data: data } = fieldsOf(part);
    if (type === 'input_image') return imageOf(textOf(image));
    if (type === 'input_file') return documentOf(textOf(url ?? data));
    return { type: 'text', text };
  });
}
