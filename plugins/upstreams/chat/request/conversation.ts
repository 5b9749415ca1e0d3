import type { BlockOf, Message, MessagesRequest } from 'gw2api/plugin';
import { asError, saysError } from '../../shared/error-result.js';
import { assistantMessage } from './assistant.js';
import { callId } from './call-id.js';
import type { ChatContent, ChatMessage, ChatPart, ToolMessage } from './chat-body.js';
import { contentOf, partOf, partsOf, type Conversion } from './content.js';
import { answersInOrder, spaced, withPrefill } from './turns.js';

/** Messages of a request: system text first, each tool message right after its call. */
export function chatMessages(request: MessagesRequest, conversion: Conversion): readonly ChatMessage[] {
  const { capabilities } = conversion;
  const turns = request.messages.flatMap((message, at) => turnOf(message, `messages[${at}]`, conversion));
  const { systemAnywhere } = capabilities;
  const system = [
    ...partsOf(request.system ?? [], 'system', conversion),
    ...(systemAnywhere ? [] : turns.flatMap(({ system }) => system)),
  ];
  const messages = answersInOrder(
    turns.flatMap(({ messages, system }) => [
      ...(systemAnywhere ? systemMessage(system, conversion) : []),
      ...messages,
    ]),
  );
  return [
    ...systemMessage(system, conversion),
    ...withPrefill(
      capabilities.userAfterTool ? messages : spaced(messages),
      conversion,
      `messages[${request.messages.length - 1}]`,
    ),
  ];
}

interface Turn {
  readonly system: readonly ChatPart[];
  readonly messages: readonly ChatMessage[];
}

function turnOf(message: Message, path: string, conversion: Conversion): readonly Turn[] {
  const { role, content } = message;
  if (role === 'system') return [{ system: partsOf(content, `${path}.content`, conversion), messages: [] }];
  const messages =
    role === 'assistant'
      ? [assistantMessage(message, path, conversion) ?? []].flat()
      : userMessages(content, `${path}.content`, conversion);
  return [{ system: [], messages }];
}

/** Tool messages, then a user message of what else was said, and of the images that the tools have given. */
function userMessages(
  content: Message['content'],
  path: string,
  conversion: Conversion,
): readonly ChatMessage[] {
  const tools: ToolMessage[] = [];
  const parts: ChatPart[] = [];
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  blocks.forEach((block, at) => {
    if (block.type === 'tool_result') {
      const { message, others } = toolMessage(block, `${path}[${at}].content`, conversion);
      tools.push(message);
      for (const part of others) parts.push(part);
    } else for (const part of partOf(block, `${path}[${at}]`, conversion)) parts.push(part);
  });
  const said = contentOf(parts, '\n\n', conversion.capabilities.textParts);
  return said.length === 0 ? tools : [...tools, { role: 'user', content: said }];
}

/** Tool message, and the parts that it has no room for: it carries texts alone. */
function toolMessage(
  { tool_use_id, content = '', is_error }: BlockOf<'tool_result'>,
  path: string,
  conversion: Conversion,
): { readonly message: ToolMessage; readonly others: readonly ChatPart[] } {
  const parts = partsOf(content, path, conversion);
  const texts = parts.filter(({ type }) => type === 'text');
  return {
    message: {
      role: 'tool',
      tool_call_id: callId(tool_use_id, conversion.capabilities),
      content: resultOf(texts, is_error === true),
    },
    others: parts.filter(({ type }) => type !== 'text'),
  };
}

/** Chat has no field for a failed call: the text says so, the first part of several. */
function resultOf(texts: readonly ChatPart[], isError: boolean): ChatContent {
  const content = contentOf(texts, '\n', false);
  if (!isError) return content;
  if (typeof content === 'string') return asError(content);
  const [first] = content;
  const isSaid = first?.type === 'text' && saysError(first.text);
  return isSaid ? content : [{ type: 'text', text: 'Error' }, ...content];
}

function systemMessage(parts: readonly ChatPart[], { capabilities }: Conversion): readonly ChatMessage[] {
  if (parts.length === 0) return [];
  return [{ role: capabilities.systemRole, content: contentOf(parts, '\n\n', false) }];
}
