import type { BlockOf, ContentBlock, Message } from 'gw2api/plugin';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import { callId } from './call-id.js';
import type { AssistantMessage, ChatToolCall } from './chat-body.js';
import { contentOf, partOf, type Conversion } from './content.js';

/** Message of an assistant turn; undefined if nothing of it can be expressed. */
export function assistantMessage(
  { content }: Message,
  path: string,
  conversion: Conversion,
): AssistantMessage | undefined {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  const said = blocks.flatMap((block, at) =>
    isRead(block) ? [] : partOf(block, `${path}.content[${at}]`, conversion),
  );
  const calls = blocks.filter((block) => block.type === 'tool_use').map((call) => toolCall(call, conversion));
  if (said.length === 0 && calls.length === 0) return undefined;
  return {
    role: 'assistant',
    content: said.length === 0 ? null : contentOf(said, '', conversion.capabilities.cacheControl),
    ...reasoningFields(blocks, conversion),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** True for blocks that are no part of the content. */
function isRead({ type }: ContentBlock): boolean {
  return type === 'tool_use' || type === 'thinking' || type === 'redacted_thinking';
}

function toolCall(
  { id, name, input }: BlockOf<'tool_use'>,
  { capabilities, names }: Conversion,
): ChatToolCall {
  const called = { name: names.short(name), arguments: JSON.stringify(input ?? {}) };
  return { id: callId(id, capabilities), type: 'function', function: called };
}

/**
 * Thinking in the field that the server takes it back in. Text goes back to any server that reads it; what a
 * vendor has signed, to that vendor alone. A server that demands `reasoning_content` gets an empty one at least.
 */
function reasoningFields(
  blocks: readonly ContentBlock[],
  { capabilities: { reasoningField, vendor } }: Conversion,
): Partial<AssistantMessage> {
  if (reasoningField === 'none') return {};
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const text = thoughts.map(({ thinking }) => thinking).join('');
  if (reasoningField === 'reasoning_content') return { reasoning_content: text };
  if (reasoningField === 'reasoning') return text === '' ? {} : { reasoning: text };
  const details = thoughts.flatMap((block) => detailsOf(block, vendor));
  return details.length > 0 ? { reasoning_details: details } : {};
}

function detailsOf({ signature }: BlockOf<'thinking'>, vendor: string): readonly unknown[] {
  const envelope = openReasoning(signature);
  return envelope?.vendor === vendor && Array.isArray(envelope.data) ? envelope.data : [];
}
