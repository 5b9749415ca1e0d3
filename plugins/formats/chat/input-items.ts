import { isRecord } from '../shared/body.js';
import { sealReasoning } from '../shared/reasoning.js';

type Fields = Readonly<Record<string, unknown>>;

/** Items of an `input` as Responses has them, and the index in the caller's list of each. */
export interface InputItems {
  readonly items: readonly unknown[];
  readonly origins: readonly number[];
}

/**
 * Items of a list whose items may have the shape of Chat messages, with the parts of any format. `custom`: names of the
 * custom tools, whose calls the client knows as functions with the text in `arguments`.
 */
export function responsesItems(input: readonly unknown[], custom: ReadonlySet<unknown>): InputItems {
  const items: unknown[] = [];
  const origins: number[] = [];
  input.forEach((given, at) => {
    for (const item of itemsOf(given)) {
      items.push(withTextCall(item, custom));
      origins.push(at);
    }
  });
  return { items, origins };
}

/** Items of a message: its text, thinking, calls and results, in their order. */
function itemsOf(given: unknown): readonly unknown[] {
  if (!isRecord(given) || (given['type'] ?? 'message') !== 'message') return [given];
  const { role, content, phase, tool_calls: calls, tool_call_id: call_id } = given;
  if (role === 'tool') return [{ type: 'function_call_output', call_id, output: plainContent(content) }];
  const made = Array.isArray(calls) ? calls.map(callItem) : [];
  if (!Array.isArray(content)) {
    const isSilent = made.length > 0 && (content === null || content === undefined || content === '');
    return isSilent ? made : [messageOf(given, content), ...made];
  }
  const items: unknown[] = [];
  let said: unknown[] = [];
  let isBegun = false;
  const end = () => {
    if (said.length === 0) return;
    // The first message has all fields: a copy of very many for each of very many messages would take minutes.
    items.push(isBegun ? { type: 'message', role, phase, content: said } : messageOf(given, said));
    isBegun = true;
    said = [];
  };
  for (const part of content.map(plainPart)) {
    if (!isRecord(part) || !itemTypes.has(part['type'])) said.push(part);
    else {
      end();
      items.push(part);
    }
  }
  end();
  return items.length + made.length > 0 ? [...items, ...made] : [messageOf(given, content)];
}

/** Message with this content, without its calls, which are separate items; the same object if nothing changes. */
function messageOf(given: Fields, content: unknown): Fields {
  if (content === given['content'] && !('tool_calls' in given) && !('tool_call_id' in given)) return given;
  const { tool_calls: _, tool_call_id: _id, ...message }: Record<string, unknown> = given;
  message['content'] = content;
  return message;
}

/** Types of parts that are items of their own in Responses. */
const itemTypes: ReadonlySet<unknown> = new Set(['function_call', 'function_call_output', 'reasoning']);

function callItem(call: unknown): unknown {
  if (!isRecord(call)) return call;
  const { id: call_id, function: called, custom } = call;
  if (isRecord(custom))
    return { type: 'custom_tool_call', call_id, name: custom['name'], input: custom['input'] ?? '' };
  const { name, arguments: text = '' } = isRecord(called) ? called : {};
  return { type: 'function_call', call_id, name, arguments: text };
}

/** Call of a custom tool that came as a function. */
function withTextCall(item: unknown, custom: ReadonlySet<unknown>): unknown {
  if (!isRecord(item) || item['type'] !== 'function_call' || !custom.has(item['name'])) return item;
  const { arguments: given, ...call } = item;
  const input = isRecord(given) ? (given['input'] ?? JSON.stringify(given)) : given;
  return { ...call, type: 'custom_tool_call', input };
}

function plainContent(content: unknown): unknown {
  return Array.isArray(content) ? content.map(plainPart) : content;
}

/** A Responses part, made from one in the shape of Chat or Messages. */
function plainPart(part: unknown): unknown {
  if (!isRecord(part)) return part;
  const { type } = part;
  return typeof type === 'string' && Object.hasOwn(parts, type) ? parts[type]?.(part) : part;
}

const parts: Readonly<Record<string, (part: Fields) => unknown>> = {
  image_url: ({ image_url: image, ...part }) => {
    const { url, ...rest } = isRecord(image) ? image : { url: image };
    return { ...part, ...rest, type: 'input_image', image_url: url };
  },
  file: ({ file, ...part }) => ({ ...part, ...(isRecord(file) ? file : {}), type: 'input_file' }),
  image: ({ source, ...part }) => ({ ...part, type: 'input_image', image_url: urlOf(source) }),
  document: ({ source, title, ...part }) => ({
    ...part,
    type: 'input_file',
    ...(isRecord(source) && source['type'] === 'url'
      ? { file_url: source['url'] }
      : { file_data: urlOf(source) }),
    filename: title,
  }),
  tool_use: ({ id: call_id, name, input }) => ({
    type: 'function_call',
    call_id,
    name,
    arguments: input ?? '',
  }),
  tool_result: ({ tool_use_id: call_id, content, is_error }) => ({
    type: 'function_call_output',
    call_id,
    output: plainContent(content),
    is_error,
  }),
  thinking: ({ thinking, signature }) => ({
    type: 'reasoning',
    summary: [],
    ...(typeof thinking === 'string' && typeof signature === 'string' && signature !== ''
      ? { encrypted_content: sealReasoning({ type: 'thinking', thinking, signature }) }
      : { content: [{ type: 'reasoning_text', text: thinking }] }),
  }),
  redacted_thinking: ({ data }) => ({
    type: 'reasoning',
    summary: [],
    ...(typeof data === 'string' && {
      encrypted_content: sealReasoning({ type: 'redacted_thinking', data }),
    }),
  }),
};

/** URL of an image or a document of Messages. */
function urlOf(source: unknown): unknown {
  if (!isRecord(source)) return undefined;
  const { type, url, media_type: mediaType, data } = source;
  if (type === 'url') return url;
  const bytes = type === 'text' && typeof data === 'string' ? Buffer.from(data).toString('base64') : data;
  return typeof mediaType === 'string' && typeof bytes === 'string'
    ? `data:${mediaType};base64,${bytes}`
    : undefined;
}
