import type { ContentBlock, ToolResultBlock } from '../plugin/index.js';
import { isBlank } from './transcript.js';
import { toolUseId } from './upstream-names.js';

/** Result of the tool call with the caller's `callId`; an empty result has no content at all. */
export function toolResult(callId: string, content: string | readonly ContentBlock[]): ToolResultBlock {
  const result = typeof content === 'string' ? content : content.filter((block) => !isBlank(block));
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(callId),
    ...(result.length > 0 && { content: result }),
  };
}
