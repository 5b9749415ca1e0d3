import type { CallReader } from '../../shared/answers-in-order.js';
import { extrasOf, type MessagesRequest } from '@gw2api/gateway/plugin';
import { prefillPath } from '../../shared/losses/placed-blocks.js';
import type { Capabilities } from '../capabilities.js';
import type { AssistantMessage, ChatMessage } from './chat-body.js';
import type { Conversion } from './content.js';

/** Calls of an assistant message, and the one that a tool message answers. */
export const chatCalls: CallReader<ChatMessage> = {
  callsOf: (message) => (message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []),
  answeredBy: (message) => (message.role === 'tool' ? message.tool_call_id : undefined),
};

/** Messages with a user's first, as templates demand in which roles alternate. */
export function fromUser(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (messages[0]?.role !== 'assistant') return messages;
  return [{ role: 'user', content: '(The conversation begins with your answer.)' }, ...messages];
}

/** Puts a short assistant message between a tool message and a user's, for servers that refuse the two in a row. */
export function spaced(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.flatMap((message, at) =>
    message.role === 'user' && messages[at - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'Done.' } as const, message]
      : [message],
  );
}

/** A last assistant message as the server continues it; if a server answers it instead, that is reported. */
export function withPrefill(
  messages: readonly ChatMessage[],
  { capabilities: { prefill }, dropped }: Conversion,
  path: string,
): readonly ChatMessage[] {
  const last = messages.at(-1);
  if (!last || !isPrefill(last)) return messages;
  if (prefill === 'none') dropped.add(prefillPath(path));
  return prefill === 'prefix' ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages;
}

/** Fields of a request that make vLLM continue the last message, unless the caller sets them. */
export function prefillFields(
  messages: readonly ChatMessage[],
  request: MessagesRequest,
  { prefill }: Capabilities,
): Readonly<Record<string, unknown>> {
  const last = messages.at(-1);
  if (prefill !== 'continue' || !last || !isPrefill(last)) return {};
  const extras = extrasOf(request);
  if ('continue_final_message' in extras || 'add_generation_prompt' in extras) return {};
  return { continue_final_message: true, add_generation_prompt: false };
}

function isPrefill(message: ChatMessage): message is AssistantMessage {
  return message.role === 'assistant' && !message.tool_calls;
}
