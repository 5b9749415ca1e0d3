import type { Message, MessagesRequest } from '@gw2api/gateway/plugin';
import { prefillPath } from '../../shared/prefill-path.js';
import type { InputItem } from './input-items.js';
import { inputItems } from './input.js';
import type { Conversion } from './parts.js';

interface Conversation {
  readonly instructions?: string;
  readonly input: readonly InputItem[];
}

/** `instructions` and `input`; system text alone is the input, since there must be one. */
export function conversationOf(
  { system = '', messages }: MessagesRequest,
  conversion: Conversion,
): Conversation {
  const input = inputItems(messages, conversion);
  if (isPrefill(messages.at(-1))) conversion.dropped.add(prefillPath(`messages[${messages.length - 1}]`));
  const instructions = typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n');
  if (instructions === '') return { input };
  if (input.length > 0) return { instructions, input };
  return { input: inputItems([{ role: 'system', content: instructions }], conversion) };
}

/** True for a last turn of the assistant, which the model answers instead of continuing it. */
function isPrefill(message: Message | undefined): boolean {
  if (message?.role !== 'assistant') return false;
  const { content } = message;
  return typeof content === 'string' || !content.some(({ type }) => type === 'tool_use');
}
