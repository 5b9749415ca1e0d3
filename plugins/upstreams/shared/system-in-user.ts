import type { ContentBlock, Message, MessagesRequest, SlotCall, TextBlock } from '@gw2api/gateway/plugin';
import { addedPart, type FindPart } from './losses/refused-part.js';

/** Finds system text that a server does not accept, or not in that role. */
export const findSystem: FindPart = (said, { request }) =>
  hasSystem(request) && aboutSystem.test(said) ? addedPart('system') : undefined;

const aboutSystem = new RegExp(
  [
    /(?:^|[\s'"`(])(?:system|developer|instructions)['"`]? ?(?:(?:role|message|prompt|text|instruction|parameter|field)s?)?['"`]?:? ?(?:is |are )?(?:not (?:supported|enabled|allowed|permitted)|unsupported|extra inputs|unexpected|unknown)/,
    /(?:unsupported|unknown|unrecognized|unexpected)[\w ]{0,30}:? ['"`](?:system|instructions)['"`]/,
    /(?:does not|doesn't|not) support ['"`]?(?:system|developer|instructions)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Request for a server without system text: puts it before the first text of the user. */
export function withSystemInUser(request: MessagesRequest): MessagesRequest {
  const texts = textsOf(request);
  if (texts.length === 0 || !Array.isArray(request.messages)) return request;
  const { system: _, ...others } = request;
  const { messages } = others;
  const at = messages.findIndex((message: Message | null) => message?.role === 'user');
  const [before, turn, after] =
    at < 0 ? [messages, undefined, []] : [messages.slice(0, at), messages[at], messages.slice(at + 1)];
  const first = { ...turn, role: 'user', content: contentWith(texts, turn?.content ?? '') } as const;
  return { ...others, messages: [...before, first, ...after] };
}

/** True for system text that the caller has not written for this API; the caller's own is not validated. */
export function hasOwnSystem({ isTranslated, addedSystem = [], request: { system } }: SlotCall): boolean {
  if (isTranslated) return true;
  const isAdded = (block: TextBlock | null) => addedSystem.some(({ text }) => text === block?.text);
  return Array.isArray(system) && system.every(isAdded);
}

/** True for a request with system text, or with a form that may be requested in it. */
function hasSystem(request: MessagesRequest): boolean {
  return textsOf(request).length > 0 || request.output_config?.format !== undefined;
}

function textsOf({ system = [] }: MessagesRequest): readonly TextBlock[] {
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system;
  return Array.isArray(blocks) ? blocks.filter(({ text }) => text !== '') : [];
}

/** Content after system texts; results of tools stay first. */
function contentWith(texts: readonly TextBlock[], content: Message['content']): Message['content'] {
  const isPlain = typeof content === 'string' && texts.every(({ cache_control: marker }) => !marker);
  if (isPlain) return [...texts.map(({ text }) => text), content].filter((text) => text !== '').join('\n\n');
  const blocks: readonly ContentBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const start = blocks.findIndex((block: ContentBlock | null) => block?.type !== 'tool_result');
  const results = start < 0 ? blocks.length : start;
  return [...blocks.slice(0, results), ...texts, ...blocks.slice(results)];
}
