import { reasoningEnvelope } from '../../../plugin/format/index.js';
import { toolLoop, type ContentBlock, type Message, type MessagesRequest } from '../../../plugin/index.js';

/** Turns of a conversation, by the number of messages from its first. */
export interface ThinkingTurns {
  /** Messages whose thinking a call can do without: all, but for a tool loop that needs its own. */
  readonly dispensable: number;
  /** True within a tool loop with signed thinking, which has to stay as it is. */
  readonly isHeld: boolean;
}

/** Messages of a request, which are not validated. */
export function messagesOf({ messages }: MessagesRequest): readonly (Message | null)[] {
  return Array.isArray(messages) ? messages : [];
}

export function thinkingTurns(request: MessagesRequest): ThinkingTurns {
  const messages = messagesOf(request);
  const { thinking } = request;
  const all = { dispensable: messages.length, isHeld: false };
  if (thinking?.type === 'disabled' || !toolLoop(messages)) return all;
  const asked = messages.findLastIndex((message) => message?.role === 'user' && !hasResults(message)) + 1;
  return messages.slice(asked).some(hasSigned) ? { dispensable: asked, isHeld: true } : all;
}

function hasResults({ content }: Message): boolean {
  return Array.isArray(content) && content[0]?.type === 'tool_result';
}

function hasSigned(message: Message | null): boolean {
  return message?.role === 'assistant' && Array.isArray(message.content) && message.content.some(isSigned);
}

/** True for thinking that a vendor has signed; an envelope of the gateway is opened by the gateway. */
function isSigned(block: ContentBlock | null): boolean {
  if (block?.type === 'redacted_thinking') return true;
  return block?.type === 'thinking' && !reasoningEnvelope.isSealed(block.signature);
}
