import type { MessagesRequest, TextBlock, Tool } from 'gw2api/plugin';
import { Dropped } from '../../shared/dropped.js';
import { ToolNames } from '../../shared/tool-names.js';
import { checkShape } from '../../shared/request-shape.js';
import { reportUnread } from '../../shared/unread.js';
import type { Capabilities } from '../capabilities.js';
import type { ChatBody } from './chat-body.js';
import type { Conversion } from './content.js';
import { chatMessages } from './conversation.js';
import { outputOf } from './output.js';
import { settingFields } from './settings.js';
import { thinkingFields } from './thinking.js';
import { toolFields } from './tools.js';

export interface ChatRequest {
  readonly body: ChatBody;
  /** Paths in the Messages request that the server cannot be told: `top_k`, `messages[2].content[1]`. */
  readonly dropped: readonly string[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Names of the tools that the answer names. */
  readonly names: ToolNames;
}

/**
 * Chat Completions request, streamed, in the server's dialect. Throws `invalid_request` for a wrong field, and for what it cannot
 * express if the slot says `unsupported: reject`. `addedTools`: those that the gateway has added.
 */
export function chatRequest(
  request: MessagesRequest,
  capabilities: Capabilities,
  addedTools: readonly Tool[] = [],
): ChatRequest {
  checkShape(request);
  const conversion: Conversion = {
    capabilities,
    dropped: new Dropped(),
    names: new ToolNames(),
    addedTools,
    leftOut: [],
  };
  const { fields, instruction } = outputOf(request, conversion);
  const body: ChatBody = {
    model: request.model,
    messages: chatMessages(instruction ? withSystem(request, instruction) : request, conversion),
    ...toolFields(request, conversion),
    ...fields,
    ...thinkingFields(request, conversion),
    ...settingFields(request, conversion),
    stream: true,
  };
  reportUnread(request, conversion.dropped);
  const { dropped, leftOut, names } = conversion;
  return { body, dropped: dropped.settle(capabilities.unsupported), leftOut, names };
}

function withSystem(request: MessagesRequest, instruction: TextBlock): MessagesRequest {
  const { system = [] } = request;
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system;
  return { ...request, system: [...blocks, instruction] };
}
