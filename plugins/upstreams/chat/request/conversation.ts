import type { BlockOf, ContentBlock, Message, MessagesRequest } from '@gw2api/gateway/plugin';
import { answersInOrder, asError } from '../../shared/answers-in-order.js';
import { leftOutText } from '../../shared/losses/left-out.js';
import { placedBlocks } from '../../shared/losses/placed-blocks.js';
import { assistantMessages, callId } from './assistant.js';
import type { ChatMessage, ChatPart, TextPart, ToolMessage } from './chat-body.js';
import { contentOf, partOf, partsOf, type Conversion, partsIn } from './content.js';
import { joined } from './joined.js';
import { withMarker } from './markers.js';
import { bySpeaker } from './speakers.js';
import { chatCalls, fromUser, spaced, withPrefill } from './turns.js';
import { systemMark } from '../../shared/late-system.js';
import type { Capabilities } from '../capabilities.js';
import { GrowingContent } from './growing-content.js';

/**
 * Messages of a request: system text first, each tool message right after its call. Late system text stays in place, so
 * that the messages of the next turn begin with these.
 */
export function chatMessages(request: MessagesRequest, conversion: Conversion): readonly ChatMessage[] {
  const { capabilities } = conversion;
  const { messages } = request;
  const begin = firstTurn(messages);
  const system = [
    ...partsOf(request.system ?? [], 'system', conversion),
    ...messages
      .slice(0, begin)
      .flatMap(({ content }, at) => partsOf(content, `messages[${at}].content`, conversion)),
  ];
  const turns = answersInOrder(
    messages
      .slice(begin)
      .flatMap((message, at) => messagesOf(message, `messages[${begin + at}]`, conversion)),
    chatCalls,
  );
  const placed = capabilities.systemAnywhere ? turns : withoutSystem(turns, capabilities);
  const taken = capabilities.rolesAlternate
    ? joined(conversion.isTranslated ? fromUser(placed) : placed, capabilities)
    : placed;
  return [
    ...systemMessage(system, conversion),
    ...withPrefill(
      capabilities.userAfterTool ? taken : spaced(taken),
      conversion,
      `messages[${messages.length - 1}]`,
    ),
  ];
}

/** Index of the first message that is not a system one. */
function firstTurn(messages: readonly Message[]): number {
  const at = messages.findIndex(({ role }) => role !== 'system');
  return at === -1 ? messages.length : at;
}

function messagesOf(message: Message, path: string, conversion: Conversion): readonly ChatMessage[] {
  const { role, content } = message;
  if (role === 'system') {
    const taken = conversion.capabilities.systemAnywhere ? conversion : unnamed(conversion);
    return systemMessage(partsOf(content, `${path}.content`, taken), taken);
  }
  if (role === 'user') return userMessages(content, `${path}.content`, conversion);
  return assistantMessages(message, path, conversion);
}

/** Conversion of system text that becomes part of another message, whose name would apply to it. */
function unnamed(conversion: Conversion): Conversion {
  return { ...conversion, capabilities: { ...conversion.capabilities, names: false } };
}

/** Tool messages, then a user message with the other content and the tools' images. */
function userMessages(
  content: Message['content'],
  path: string,
  conversion: Conversion,
): readonly ChatMessage[] {
  const tools: ToolMessage[] = [];
  const parts: ChatPart[] = [];
  const given = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  const placed = placedBlocks(given, path, conversion);
  for (const { block, at } of placed) {
    if (block.type === 'tool_result') {
      const { message, others } = toolMessage(block, `${path}[${at}].content`, conversion);
      tools.push(message);
      for (const part of others) parts.push(part);
    } else for (const part of partOf(block, `${path}[${at}]`, conversion)) parts.push(part);
  }
  const { textParts, cacheControl, images } = conversion.capabilities;
  if (tools.length === 0 && parts.length === 0 && placed.length > 0)
    parts.push({ type: 'text', text: leftOutText(given, images === 'none') });
  const said = bySpeaker(parts, (own) => ({
    role: 'user' as const,
    content: contentOf(own, '\n\n', textParts || cacheControl),
  }));
  return [...tools, ...said];
}

/** Tool message, and the parts that do not fit: it carries only text. */
function toolMessage(
  { tool_use_id, content = '', is_error, cache_control: marker }: BlockOf<'tool_result'>,
  path: string,
  conversion: Conversion,
): { readonly message: ToolMessage; readonly others: readonly ChatPart[] } {
  const parts = partsOf(content, path, conversion);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part] : []));
  const others = parts.filter(({ type }) => type !== 'text');
  if (texts.length === 0 && typeof content !== 'string' && content.length > 0)
    texts.push({ type: 'text', text: textInstead(content, others, conversion) });
  const said = is_error ? markedAsError(texts) : texts;
  const marked = said.map((text, at) =>
    at === said.length - 1 ? withMarker(text, marker, conversion) : text,
  );
  return {
    message: {
      role: 'tool',
      tool_call_id: callId(tool_use_id, conversion.capabilities),
      content: contentOf(marked, '\n', conversion.capabilities.cacheControl),
    },
    others,
  };
}

/** Text of a result without any: the place of its images, or the omitted parts. */
function textInstead(
  content: readonly ContentBlock[],
  others: readonly ChatPart[],
  { capabilities }: Conversion,
): string {
  if (others.length === 0) return leftOutText(content, capabilities.images === 'none');
  const names = new Set(others.map(({ type }) => (type === 'file' ? 'file' : 'image')));
  return `[${[...names].join(' and ')} in the next user message]`;
}

/** Marks a failed call in its text, the first one of several, since Chat has no field for it. */
function markedAsError(texts: readonly TextPart[]): readonly TextPart[] {
  const [first = { type: 'text', text: '' }, ...rest] = texts;
  return [{ ...first, text: asError(first.text) }, ...rest];
}

function systemMessage(parts: readonly ChatPart[], { capabilities }: Conversion): readonly ChatMessage[] {
  const { systemRole: role, cacheControl } = capabilities;
  return bySpeaker(parts, (own) => ({ role, content: contentOf(own, '\n\n', cacheControl) }));
}

/**
 * Messages without system ones, for a server that takes those only at the front: their text is marked, and appended to
 * the user message right before, or to the last tool message if no user may follow one. Otherwise it is a separate user
 * message.
 */
export function withoutSystem(
  messages: readonly ChatMessage[],
  { userAfterTool, textParts, cacheControl }: Capabilities,
): readonly ChatMessage[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role !== 'system' && message.role !== 'developer') {
      turns.push({ message });
      continue;
    }
    const parts = partsIn(message.content).map(marked);
    const last = turns.at(-1);
    const { role, content } = last?.message ?? {};
    if (last && (role === 'user' || (role === 'tool' && !userAfterTool))) {
      last.content ??= new GrowingContent(content ?? '');
      last.content.add(parts, cacheControl || (textParts && role === 'user'));
    } else {
      const asParts = cacheControl || textParts;
      turns.push({ message: { role: 'user', content: contentOf(parts, '\n\n', asParts) } });
    }
  }
  return turns.map(written);
}

interface Turn {
  readonly message: ChatMessage;
  /** Content with system text behind it. */
  content?: GrowingContent;
}

function written({ message, content }: Turn): ChatMessage {
  return content ? { ...message, content: content.content } : message;
}

function marked(part: ChatPart): ChatPart {
  return part.type === 'text' ? { ...part, text: systemMark + part.text } : part;
}
