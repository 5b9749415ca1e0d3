import { reasoningEnvelope, type ReasoningEnvelope } from '@gw2api/gateway/plugin/format';
import {
  toolLoop,
  type ContentBlock,
  type Loss,
  type Message,
  type MessagesRequest,
} from '@gw2api/gateway/plugin';
import { withoutBlocks } from './losses/left-out.js';

/** Envelope of thinking without a signature, as a `signature`. */
export function sealReasoning(envelope: ReasoningEnvelope): string {
  return reasoningEnvelope.seal(envelope);
}

/** Envelope in a `signature`; undefined for one of a vendor, and for an envelope that is cut or altered. */
export function openReasoning(signature: string): ReasoningEnvelope | undefined {
  return reasoningEnvelope.open(signature);
}

/** True for a `signature` that is an envelope, which no vendor may receive as a signature. */
export function isSealed(signature: unknown): boolean {
  return reasoningEnvelope.isSealed(signature);
}

/**
 * Request for an upstream that signs its own thinking: without thinking of other vendors. The request itself if there
 * is none, which each assistant block is checked for.
 */
export function withoutSealed<Request extends Pick<MessagesRequest, 'messages' | 'thinking'>>(
  request: Request,
): Request {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasSealed)) return request;
  const sent = { ...request, messages: messages.map(unsealed) };
  return mustThink(messages) ? withoutBudget(sent) : sent;
}

/** Thinking of other vendors in a request, and the parts removed with it. */
export function sealedLosses(
  { messages, thinking }: MessagesRequest,
  sent: MessagesRequest,
): readonly Loss[] {
  const losses = messages.flatMap((message, at) => {
    if (!hasSealed(message) || typeof message.content === 'string') return [];
    return message.content.flatMap((block, index) =>
      isSealedBlock(block) ? [mendAt(`messages[${at}].content[${index}]`)] : [],
    );
  });
  const isOn = thinking !== undefined && sent.thinking === undefined;
  return isOn ? [{ path: 'thinking', kind: 'setting' }, ...losses] : losses;
}

function mendAt(path: string): Loss {
  return { path, kind: 'mend' };
}

/** Only the upstream validates a Messages request, so that its messages may be anything. */
function hasSealed(message: Message | null): boolean {
  return (
    message?.role === 'assistant' && Array.isArray(message.content) && message.content.some(isSealedBlock)
  );
}

/** Message without thinking of other vendors. */
function unsealed(message: Message): Message {
  return hasSealed(message) ? withoutBlocks(message, isSealedBlock) : message;
}

function isSealedBlock(block: ContentBlock | null): boolean {
  return block?.type === 'thinking' && isSealed(block.signature);
}

/** True within a tool loop whose turn has lost its thinking: with a budget, the upstream demands it there. */
function mustThink(messages: readonly Message[]): boolean {
  const loop = toolLoop(messages);
  return loop !== undefined && hasSealed(loop.calls);
}

function withoutBudget<Request extends Pick<MessagesRequest, 'thinking'>>(request: Request): Request {
  if (request.thinking?.type !== 'enabled') return request;
  const { thinking: _, ...others } = request;
  return others as Request; // `thinking` is optional
}
