import type { CallReader } from '../../shared/answers-in-order.js';
import type { ChatMessage } from './chat-body.js';
import type { Conversion } from './content.js';

/** Calls of an assistant message, and the one that a tool message answers. */
export const chatCalls: CallReader<ChatMessage> = {
  callsOf: (message) => (message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []),
  answeredBy: (message) => (message.role === 'tool' ? message.tool_call_id : undefined),
};

/** Puts a short assistant message between a tool message and a user's, for servers that refuse the two in a row. */
export function spaced(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.flatMap((message, at) =>
    message.role === 'user' && messages[at - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'Done.' } as const, message]
      : [message],
  );
}

/** A last assistant message as the server continues it; a server that answers it instead is reported. */
export function withPrefill(
  messages: readonly ChatMessage[],
  { capabilities: { prefill }, dropped }: Conversion,
  path: string,
): readonly ChatMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.tool_calls) return messages;
  if (prefill === 'none') dropped.add(path);
  return prefill === 'prefix' ? [...messages.slice(0, -1), { ...last, prefix: true }] : messages;
}
