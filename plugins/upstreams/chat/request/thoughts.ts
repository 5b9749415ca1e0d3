import type { BlockOf, ContentBlock } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import { fieldsOf } from '../../shared/fields.js';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import type { Capabilities } from '../capabilities.js';
import type { AssistantMessage, ThinkingPart } from './chat-body.js';
import type { Conversion } from './content.js';

type ThinkingBlock = BlockOf<'thinking'>;

/**
 * Thinking of a turn in the field that the server takes it back in. Text goes back to any server that reads it; what a
 * vendor has signed, to that vendor alone. A server that demands `reasoning_content` gets an empty one at least.
 */
export function reasoningFields(
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
export function thinkingParts(block: ThinkingBlock, capabilities: Capabilities): readonly ThinkingPart[] {
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

/** Reports thinking that the server does not take back: as content where nobody has sealed it. */
export function reportThoughts(
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
