import type { ContentBlock, Loss, Message, MessagesRequest } from '@gw2api/gateway/plugin';
import { toolInput } from '@gw2api/gateway/plugin/upstream';

/** Request with the inputs of its calls as objects, and the losses of those that were cut. */
export interface CallInputs<Request> {
  readonly request: Request;
  readonly cut: readonly Loss[];
}

/**
 * Makes objects of inputs that are texts, as cut answers have them: every upstream refuses those, so that a text that
 * is not JSON becomes its finished members. Returns the request itself if there are none; other values stay, for the
 * upstream to refuse.
 */
export function withObjectInputs<Request extends Pick<MessagesRequest, 'messages'>>(
  request: Request,
): CallInputs<Request> {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(hasTextInput)) return { request, cut: [] };
  const cut: Loss[] = [];
  const withObjects = messages.map((message: Message, at) => {
    if (!hasTextInput(message) || typeof message.content === 'string') return message;
    const content = message.content.map((block, nth) => {
      if (!isTextInput(block)) return block;
      const { input, isCut } = toolInput(block.input);
      if (isCut) cut.push({ path: `messages[${at}].content[${nth}].input`, kind: 'content' });
      return { ...block, input };
    });
    return { ...message, content };
  });
  return { request: { ...request, messages: withObjects }, cut };
}

/** Only the upstream validates a Messages request, so that its messages may be anything. */
function hasTextInput(message: Message | null): boolean {
  return message?.role === 'assistant' && Array.isArray(message.content) && message.content.some(isTextInput);
}

function isTextInput(
  block: ContentBlock | null,
): block is Extract<ContentBlock, { readonly type: 'tool_use' }> & { readonly input: string } {
  return block?.type === 'tool_use' && typeof block.input === 'string';
}
