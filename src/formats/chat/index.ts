import type { Format, FormatContext } from '../../plugin/index.js';
import { withPrivateUser } from '../private-user.js';
import { sseComment } from '../sse.js';
import type { ChatRequest } from './choice.js';
import { chatReply } from './reply.js';
import { type ChatBody, decodeChat, toolNames } from './request.js';
import { chatStream } from './stream.js';

/** Chat Completions. */
export const chat: Format = {
  name: 'chat',
  decode: (body, context) => withPrivateUser(decodeChat(body, context), context),
  encoder(body, context) {
    const request = chatRequest(body as ChatBody, context); // decode has accepted it
    return {
      keepAlive: sseComment,
      whole: ({ events }) => chatReply(events, request),
      stream: ({ events }) => chatStream(events, request),
    };
  },
};

function chatRequest(body: ChatBody, context: FormatContext): ChatRequest {
  return {
    model: body.model,
    created: Math.floor(context.now() / 1000),
    n: body.n ?? 1,
    includeUsage: body.stream_options?.include_usage === true,
    isLegacy: Boolean(body.functions) && !body.tools,
    tools: toolNames(body),
    calledIds: calledIds(body),
  };
}

function calledIds({ messages }: ChatBody): readonly string[] {
  return messages.flatMap(({ tool_calls: calls }) => (calls ?? []).flatMap(({ id }) => id ?? []));
}
