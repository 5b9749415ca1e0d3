import type { MessagesRequest, SlotCall, TextBlock, Tool } from 'gw2api/plugin';
import { estimate } from './estimate.js';

/** Call as it was sent. */
export interface SentCall {
  readonly call: Pick<SlotCall, 'addedSystem' | 'addedTools' | 'request'>;
  /** Tools of the gateway that were not sent. */
  readonly leftOut: readonly Tool[];
  /** Bytes of its prompt, from which its input tokens are estimated. */
  readonly bytes: number;
  /** True where system text becomes part of what the user says; its size depends on that. */
  readonly isSystemInUser: boolean;
}

/**
 * Tokens of the gateway's additions in the estimate of a call's input: what is left without them is what a token count
 * of the caller's own request names. `bytesOf` measures prompts as `bytes` was; undefined: nothing was added.
 */
export function addedTokens(
  { call: { request, addedSystem = [], addedTools = [] }, leftOut, bytes, isSystemInUser }: SentCall,
  bytesOf: (request: MessagesRequest) => number,
): number | undefined {
  const tools = addedTools.filter((tool) => !leftOut.includes(tool));
  if (addedSystem.length + tools.length === 0) return undefined;
  const messages = isSystemInUser ? request.messages : beginning(request);
  // What stays the same on both sides need not be measured.
  const sent = { ...request, messages, ...(tools.length === 0 && { tools: [] }) };
  const own = { ...sent, ...withoutTexts(sent, addedSystem), ...withoutTools(sent, tools) };
  return estimate(bytes) - estimate(bytes - (bytesOf(sent) - bytesOf(own)));
}

/** System text that messages begin with, which may be joined with the added one, and a placeholder of the turns. */
function beginning({ messages }: MessagesRequest): MessagesRequest['messages'] {
  const turn = messages.findIndex(({ role }) => role !== 'system');
  return [...messages.slice(0, Math.max(0, turn)), { role: 'user', content: '.' }];
}

/** System text without each of the added ones, once. */
function withoutTexts(
  { system }: MessagesRequest,
  added: readonly TextBlock[],
): Pick<MessagesRequest, 'system'> {
  if (!Array.isArray(system)) return {};
  const texts = added.map(({ text }) => text);
  const own = (system as readonly TextBlock[]).filter(({ text }) => {
    const at = texts.indexOf(text);
    if (at >= 0) texts.splice(at, 1);
    return at < 0;
  });
  return { system: own };
}

function withoutTools({ tools }: MessagesRequest, added: readonly Tool[]): Pick<MessagesRequest, 'tools'> {
  if (!tools || added.length === 0) return {};
  return {
    tools: tools.filter(({ name, type }) => !added.some((tool) => tool.name === name && tool.type === type)),
  };
}
