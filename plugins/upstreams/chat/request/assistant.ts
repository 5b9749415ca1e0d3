import type { BlockOf, ContentBlock, Message } from 'gw2api/plugin';
import { inputJson } from 'gw2api/plugin/upstream';
import { leftOutText } from '../../shared/left-out.js';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import { callId } from './call-id.js';
import type { AssistantMessage, ChatToolCall } from './chat-body.js';
import { contentOf, partOf, type Conversion } from './content.js';

/** Message of an assistant turn, in words where nothing of it can be expressed; undefined for an empty one. */
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
  if (blocks.length === 0) return undefined;
  const reasoning = reasoningFields(blocks, conversion);
  const isCall = said.length === 0 && calls.length > 0;
  return {
    role: 'assistant',
    content: isCall
      ? null
      : contentOf(said, '', conversion.capabilities.cacheControl) || textInstead(blocks, reasoning),
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Content of a turn without any: thinking that is sent back stands for itself. */
function textInstead(blocks: readonly ContentBlock[], reasoning: Partial<AssistantMessage>): string {
  const isThought = Object.values(reasoning).some((value) => value !== '');
  const isEmptyText = blocks.every(({ type }) => type === 'text');
  return isThought || isEmptyText ? '' : leftOutText(blocks.filter(({ type }) => type !== 'text'));
}

/** True for blocks that are no part of the content. */
function isRead({ type }: ContentBlock): boolean {
  return type === 'tool_use' || type === 'thinking' || type === 'redacted_thinking';
}

function toolCall(
  { id, name, input }: BlockOf<'tool_use'>,
  { capabilities, names }: Conversion,
): ChatToolCall {
  const called = { name: names.short(name), arguments: inputJson(input) };
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
