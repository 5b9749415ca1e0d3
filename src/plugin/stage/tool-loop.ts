import type { Message } from '../contract/messages.js';

/** Tool loop at the end of a conversation: the turn with the calls, and the user turn with their results. */
export interface ToolLoop {
  readonly calls: Message;
  readonly results: Message;
}

/**
 * Tool loop at the end of a conversation, system messages aside; undefined if it ends otherwise. Accepts unvalidated
 * messages of a caller.
 */
export function toolLoop(messages: readonly (Message | null)[]): ToolLoop | undefined {
  const at = messages.findLastIndex((message) => message?.role === 'assistant');
  const calls = messages[at];
  const results = messages.slice(at + 1).find((message) => message?.role !== 'system');
  if (!calls || !results || !Array.isArray(results.content)) return undefined;
  return results.content[0]?.type === 'tool_result' ? { calls, results } : undefined;
}
