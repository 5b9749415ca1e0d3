import { reasoningEnvelope, reasoningPrefix } from 'gw2api/plugin/format';
import { toolLoop, type ContentBlock, type Message, type MessagesRequest } from 'gw2api/plugin';
import { withoutBlocks } from './left-out.js';

/**
 * Origin of a thinking block that its vendor has not signed as Messages does. It travels in the block's
 * `signature`, through callers of all formats, and is opened by the gateway alone.
 */
export interface ReasoningEnvelope {
  /** Vendor (a preset) or slot that the thinking came from. */
  readonly vendor: string;
  /** Vendor's own data, sent back to it as it came: `reasoning_details`, or an encrypted item. */
  readonly data?: unknown;
}

/** Max length of an envelope that is opened. */
const maxLength = 4 * 1024 * 1024;

/**
 * Envelope as a `signature`. It is no secret: it holds what the vendor would have given to the caller itself.
 */
export function sealReasoning(envelope: ReasoningEnvelope): string {
  return reasoningEnvelope(envelope);
}

/** Envelope in a `signature`; undefined for one of a vendor, and for an envelope that is cut or altered. */
export function openReasoning(signature: string): ReasoningEnvelope | undefined {
  if (!isSealed(signature) || signature.length > maxLength) return undefined;
  const opened = parse(Buffer.from(signature.slice(reasoningPrefix.length), 'base64url').toString());
  return isEnvelope(opened) ? opened : undefined;
}

/** True for a `signature` that is an envelope, which no vendor may get as a signature. */
export function isSealed(signature: unknown): boolean {
  return typeof signature === 'string' && signature.startsWith(reasoningPrefix);
}

function isEnvelope(value: unknown): value is ReasoningEnvelope {
  return typeof value === 'object' && value !== null && 'vendor' in value && typeof value.vendor === 'string';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut or altered on its way through the caller
  }
}

/**
 * Request for an upstream that signs its own thinking: without thinking of other vendors. The request itself
 * if there is none, which a look at each assistant block finds out.
 */
export function withoutSealed<Request extends Pick<MessagesRequest, 'messages' | 'thinking'>>(
  request: Request,
): Request {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasSealed)) return request;
  const sent = { ...request, messages: messages.map(unsealed) };
  return mustThink(messages) ? withoutBudget(sent) : sent;
}

/** A Messages request is checked by its upstream alone, so that its messages may be anything. */
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
