import type { ContentBlock, Message, MessagesRequest } from 'gw2api/plugin';

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

/** Start of every envelope; signatures of vendors are base64, which has no dot. */
const prefix = 'gw2api-reasoning.';

/** Max length of an envelope that is opened. */
const maxLength = 4 * 1024 * 1024;

/**
 * Envelope as a `signature`. It is no secret: it holds what the vendor would have given to the caller itself.
 */
export function sealReasoning(envelope: ReasoningEnvelope): string {
  return prefix + Buffer.from(JSON.stringify(envelope)).toString('base64url');
}

/** Envelope in a `signature`; undefined for one of a vendor, and for an envelope that is cut or altered. */
export function openReasoning(signature: string): ReasoningEnvelope | undefined {
  if (!isSealed(signature) || signature.length > maxLength) return undefined;
  const opened = parse(Buffer.from(signature.slice(prefix.length), 'base64url').toString());
  return isEnvelope(opened) ? opened : undefined;
}

/** True for a `signature` that is an envelope, which no vendor may get as a signature. */
export function isSealed(signature: unknown): boolean {
  return typeof signature === 'string' && signature.startsWith(prefix);
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
  const kept = messages.map((message: Message) => (hasSealed(message) ? unsealed(message) : message));
  const sent = { ...request, messages: kept.filter(({ content }: Message) => content.length > 0) };
  return mustThink(messages) ? withoutBudget(sent) : sent;
}

function hasSealed({ role, content }: Message): boolean {
  return role === 'assistant' && Array.isArray(content) && content.some(isSealedBlock);
}

function unsealed(message: Message): Message {
  const { content } = message;
  return typeof content === 'string'
    ? message
    : { ...message, content: content.filter((block) => !isSealedBlock(block)) };
}

function isSealedBlock(block: ContentBlock): boolean {
  return block.type === 'thinking' && isSealed(block.signature);
}

/** True within a tool loop whose turn has lost its thinking: with a budget, the upstream demands it there. */
function mustThink(messages: readonly Message[]): boolean {
  const [calls, results] = messages.slice(-2);
  const isLoop = typeof results?.content === 'object' && results.content[0]?.type === 'tool_result';
  return isLoop && calls !== undefined && hasSealed(calls);
}

function withoutBudget<Request extends Pick<MessagesRequest, 'thinking'>>(request: Request): Request {
  if (request.thinking?.type !== 'enabled') return request;
  const { thinking: _, ...others } = request;
  return others as Request; // `thinking` is optional
}
