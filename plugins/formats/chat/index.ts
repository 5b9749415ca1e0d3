import { Type, type ModelReply } from 'gw2api/plugin';
import { answeringModel, defineFormat, type FormatContext } from 'gw2api/plugin/format';
import { chatBody, type ChatBody } from './body.js';
import type { ChatRequest } from './choice.js';
import { chatReply } from './reply.js';
import { decodeChat } from './request.js';
import { chatStream } from './stream.js';
import { toolNames } from './tools.js';
import { openaiError } from '../shared/error.js';
import { withPrivateUser } from '../shared/private-user.js';
import { sseComment } from '../shared/sse.js';

const ChatCompletion = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer({ minimum: 0 }),
  model: Type.String(),
  choices: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  usage: Type.Record(Type.String(), Type.Unknown()),
});

/** Chat Completions. */
export default defineFormat({
  name: 'chat',
  api: 1,
  routes: [
    {
      method: 'POST',
      path: '{/v1}/chat/completions',
      operation: 'generate',
      openapi: { summary: 'A Chat Completions request.', answers: { 200: ChatCompletion } },
    },
  ],
  body: chatBody,
  decode: (body, context) => withPrivateUser(decodeChat(body, context), context),
  encoder(body, context) {
    const request = chatRequest(body as ChatBody, context); // checked by `decode`
    return {
      keepAlive: sseComment,
      whole: (reply) => chatReply(reply.events, answered(request, reply, context)),
      stream: (reply) => chatStream(reply.events, answered(request, reply, context)),
    };
  },
  error: openaiError,
});

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

/** The request under the name of the model that answered. */
function answered(request: ChatRequest, reply: ModelReply, context: FormatContext): ChatRequest {
  const model = answeringModel(request.model, reply, context);
  return model === request.model ? request : { ...request, model };
}
