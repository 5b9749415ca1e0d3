import { extrasOf, type BlockOf, type ContentBlock, type Message } from 'gw2api/plugin';
import { inputJson } from 'gw2api/plugin/upstream';
import { leftOutText } from '../../shared/left-out.js';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import { callId } from './call-id.js';
import type { AssistantMessage, ChatToolCall } from './chat-body.js';
import { contentOf, partOf, type Conversion } from './content.js';
import { runsBySpeaker } from './speakers.js';

/**
 * Messages of an assistant turn, one for each who speaks in it, in words where nothing of it can be expressed; none for
 * an empty one.
 */
export function assistantMessages(
  { content }: Message,
  path: string,
  conversion: Conversion,
): readonly AssistantMessage[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  const isNamed = conversion.capabilities.names;
  let from = 0;
  return (isNamed ? runsBySpeaker(blocks) : [blocks]).flatMap((own) => {
    const pathOf = offsetPath(path, from);
    from += own.length;
    const message = assistantMessage(own, pathOf, conversion);
    const { name } = isNamed ? extrasOf(own[0] ?? {}) : {};
    return message ? [typeof name === 'string' ? { ...message, name } : message] : [];
  });
}

function offsetPath(path: string, from: number): (at: number) => string {
  return (at) => `${path}.content[${from + at}]`;
}

function assistantMessage(
  blocks: readonly ContentBlock[],
  pathOf: (at: number) => string,
  conversion: Conversion,
): AssistantMessage | undefined {
  const said = blocks.flatMap((block, at) => (isRead(block) ? [] : partOf(block, pathOf(at), conversion)));
  const calls = blocks.filter((block) => block.type === 'tool_use').map((call) => toolCall(call, conversion));
  if (blocks.length === 0) return undefined;
  const reasoning = reasoningFields(blocks, conversion);
  reportThoughts(blocks, pathOf, conversion);
  const isCall = said.length === 0 && calls.length > 0;
  return {
    role: 'assistant',
    content: isCall
      ? noContent[conversion.capabilities.contentBesideCalls]
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

/** Templates of llama.cpp fail at null. */
const noContent = { null: null, empty: '' } as const;

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

/** Reports thinking that the server does not take back: as content where nobody has sealed it. */
function reportThoughts(
  blocks: readonly ContentBlock[],
  pathOf: (at: number) => string,
  { capabilities: { reasoningField, vendor }, dropped }: Conversion,
): void {
  const isText = reasoningField === 'reasoning_content' || reasoningField === 'reasoning';
  blocks.forEach((block, at) => {
    if (block.type === 'redacted_thinking') dropped.add(pathOf(at), 'mend');
    if (block.type !== 'thinking' || isText) return;
    const isSent = reasoningField === 'reasoning_details' && detailsOf(block, vendor).length > 0;
    const isPlain = openReasoning(block.signature)?.vendor === '';
    if (!isSent) dropped.add(pathOf(at), isPlain ? 'content' : 'mend');
  });
}

/** Details of the server itself, and those that a caller has sent without a seal. */
function detailsOf({ signature }: BlockOf<'thinking'>, own: string): readonly unknown[] {
  const { vendor, data } = openReasoning(signature) ?? {};
  return (vendor === own || vendor === '') && Array.isArray(data) ? data : [];
}
