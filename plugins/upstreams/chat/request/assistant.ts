import { extrasOf, type BlockOf, type ContentBlock, type Message } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import { inputJson } from '@gw2api/gateway/plugin/upstream';
import { leftOutText } from '../../shared/losses/left-out.js';
import type { AssistantMessage, ChatPart, ChatToolCall, ThinkingPart } from './chat-body.js';
import { contentOf, partOf, type Conversion } from './content.js';
import { runsBySpeaker } from './speakers.js';
import { fieldsOf } from '../../shared/fields.js';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import type { Capabilities } from '../capabilities.js';
import { sha256, shortCallId } from '../../shared/openai/tool-names.js';

/**
 * Messages of an assistant turn, one for each speaker in it; as text if nothing of it can be expressed, and none for an
 * empty one.
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
  const said = blocks.flatMap((block, at) => partsIn(block, pathOf(at), conversion));
  const calls = toolCalls(blocks, conversion);
  if (blocks.length === 0) return undefined;
  const reasoning = reasoningFields(blocks, conversion);
  reportThoughts(blocks, pathOf, conversion);
  const isCall = calls.length > 0 && said.every((part) => part.type === 'text' && part.text === '');
  return {
    role: 'assistant',
    content: isCall
      ? noContent[conversion.capabilities.contentBesideCalls]
      : contentOf(said, '', conversion.capabilities.cacheControl) || textInstead(blocks, reasoning),
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Content of a turn without any: thinking that is sent back is enough. */
function textInstead(blocks: readonly ContentBlock[], reasoning: Partial<AssistantMessage>): string {
  const isThought = Object.values(reasoning).some((value) => value !== '');
  const isEmptyText = blocks.every(({ type }) => type === 'text');
  return isThought || isEmptyText ? '' : leftOutText(blocks.filter(({ type }) => type !== 'text'));
}

/** Content of a message of calls alone; templates of llama.cpp fail at null. */
export const noContent = { null: null, empty: '' } as const;

/** Parts of a block: none of a call, or of thinking with a separate field. */
function partsIn(block: ContentBlock, path: string, conversion: Conversion): readonly ChatPart[] {
  if (block.type === 'thinking') return thinkingParts(block, conversion.capabilities);
  if (block.type === 'tool_use' || block.type === 'redacted_thinking') return [];
  return partOf(block, path, conversion);
}

/** Calls of a turn, with their thought signatures if the server demands them. */
function toolCalls(blocks: readonly ContentBlock[], conversion: Conversion): readonly ChatToolCall[] {
  const { thoughtSignatures } = conversion.capabilities;
  const calls = blocks.flatMap((block, at) => {
    if (block.type !== 'tool_use') return [];
    const call = toolCall(block, conversion);
    const thought = thoughtSignatures ? thoughtBefore(blocks[at - 1]) : undefined;
    return [thought === undefined ? call : withThought(call, thought)];
  });
  const [first, ...others] = calls;
  if (!thoughtSignatures || !first || first.extra_content) return calls;
  return [withThought(first, unknownThought), ...others];
}

function thoughtBefore(block: ContentBlock | undefined): string | undefined {
  return block?.type === 'thinking' ? reasoningEnvelope.thoughtIn(block.signature) : undefined;
}

/**
 * Placeholder signature of a call without one, or from another model:
 * https://ai.google.dev/gemini-api/docs/thought-signatures. Only the first of a turn's parallel calls must have one.
 */
const unknownThought = 'skip_thought_signature_validator';

function withThought(call: ChatToolCall, thought_signature: string): ChatToolCall {
  return { ...call, extra_content: { google: { thought_signature } } };
}

function toolCall(
  { id, name, input }: BlockOf<'tool_use'>,
  { capabilities, names }: Conversion,
): ChatToolCall {
  const called = { name: names.short(name), arguments: inputJson(input) };
  return { id: callId(id, capabilities), type: 'function', function: called };
}

type ThinkingBlock = BlockOf<'thinking'>;

/**
 * Thinking of a turn in the server's field for it: text for any server that reads it, signed thinking for its own
 * vendor alone. A server that demands `reasoning_content` gets at least an empty one.
 */
function reasoningFields(
  blocks: readonly ContentBlock[],
  { capabilities }: Conversion,
): Partial<AssistantMessage> {
  const { reasoningField } = capabilities;
  if (reasoningField === 'none' || reasoningField === 'thinking_parts') return {};
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const text = thoughts.map(({ thinking }) => thinking).join('');
  if (reasoningField === 'reasoning_content') return { reasoning_content: text };
  if (reasoningField === 'reasoning') return text === '' ? {} : { reasoning: text };
  const details = thoughts.flatMap((block) => detailsOf(block, capabilities));
  return details.length > 0 ? { reasoning_details: details } : {};
}

/** Thinking as a part of the content, for the server that gives it so; none for others. */
function thinkingParts(block: ThinkingBlock, capabilities: Capabilities): readonly ThinkingPart[] {
  if (capabilities.reasoningField !== 'thinking_parts' || block.thinking === '') return [];
  const { vendor, data } = openReasoning(block.signature) ?? {};
  const { type, signature, closed } = fieldsOf(data);
  if (vendor !== capabilities.vendor && (vendor !== '' || type !== 'thinking')) return [];
  return [
    {
      type: 'thinking',
      thinking: [{ type: 'text', text: block.thinking }],
      ...(typeof signature === 'string' && { signature }),
      ...(typeof closed === 'boolean' && { closed }),
    },
  ];
}

/** Reports thinking that the server does not take back: as content if it is unsigned. */
function reportThoughts(
  blocks: readonly ContentBlock[],
  pathOf: (at: number) => string,
  { capabilities, dropped }: Conversion,
): void {
  blocks.forEach((block, at) => {
    if (block.type === 'redacted_thinking') dropped.add(pathOf(at), 'mend');
    if (block.type !== 'thinking' || isSent(block, capabilities)) return;
    const isPlain = openReasoning(block.signature)?.vendor === '';
    dropped.add(pathOf(at), isPlain ? 'content' : 'mend');
  });
}

function isSent(block: ThinkingBlock, capabilities: Capabilities): boolean {
  if (block.thinking === '' && reasoningEnvelope.thoughtIn(block.signature) !== undefined)
    return capabilities.thoughtSignatures;
  const { reasoningField } = capabilities;
  if (reasoningField === 'reasoning_details') return detailsOf(block, capabilities).length > 0;
  if (reasoningField === 'thinking_parts') return thinkingParts(block, capabilities).length > 0;
  return reasoningField !== 'none';
}

/** Details of OpenRouter, its own or those that a caller has sent. */
function detailsOf({ signature }: ThinkingBlock, { vendor }: Capabilities): readonly unknown[] {
  const envelope = openReasoning(signature);
  const isOwn = envelope?.vendor === vendor || envelope?.vendor === '';
  return isOwn && Array.isArray(envelope.data) ? envelope.data : [];
}

/** Id of a tool call as the server takes it: the same each time, so that calls and results agree. */
export function callId(id: string, { toolCallIds }: Pick<Capabilities, 'toolCallIds'>): string {
  if (toolCallIds === 'any') return shortCallId(id);
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : sha256(id).slice(0, 9);
}
