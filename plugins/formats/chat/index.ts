import { Type, type ModelReply, type ReplyEncoder } from '@gw2api/gateway/plugin';
import { answeringModel, defineFormat, type FormatContext } from '@gw2api/gateway/plugin/format';
import { chatBody, type ChatBody } from './body.js';
import type { ChatRequest } from './choice.js';
import { textFunctions } from './flat-tools.js';
import { inputBody, inputTools } from './input-body.js';
import { withInputPaths } from './input-paths.js';
import { chatReply } from './reply.js';
import { decodeChat } from './request.js';
import { chatStream } from './stream.js';
import { toolNames } from './tools.js';
import { decodeResponses } from '../responses/request.js';
import { isRecord } from '../shared/body.js';
import { openaiError } from '../shared/answer/error.js';
import { withPrivateUser } from '../shared/private-user.js';
import { sseComment } from '../shared/answer/sse.js';

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
  decode(body, context) {
    const input = inputBody(body);
    if (!input || !isRecord(body)) return withPrivateUser(decodeChat(body, context), context);
    const decoded = withInputPaths(body, () => decodeResponses(input, context));
    return decoded.then((own) => withPrivateUser(own, context));
  },
  encoder(body, context) {
    const asked = body as ChatBody; // checked by `decode`
    const input = inputBody(body);
    if (!input) return encoderOf(chatRequest(asked, context), context);
    return inputTools(input, context).then((tools) =>
      encoderOf({ ...settingsOf(asked, context), ...tools, n: 1, isLegacy: false }, context),
    );
  },
  error: openaiError,
});

function encoderOf(request: ChatRequest, context: FormatContext): ReplyEncoder {
  return {
    keepAlive: sseComment,
    whole: (reply) => chatReply(reply.events, answered(request, reply, context)),
    stream: (reply) => chatStream(reply.events, answered(request, reply, context)),
  };
}

function chatRequest(body: ChatBody, context: FormatContext): ChatRequest {
  const { model, created, includeUsage } = settingsOf(body, context);
  return {
    model,
    created,
    includeUsage,
    n: body.n ?? 1,
    isLegacy: Boolean(body.functions) && !body.tools,
    tools: toolNames(body),
    textFunctions: textFunctions(body),
    calledIds: calledIds(body),
  };
}

function settingsOf(
  { model, stream_options: options }: ChatBody,
  context: FormatContext,
): Pick<ChatRequest, 'model' | 'created' | 'includeUsage'> {
  const created = Math.floor(context.now() / 1000);
  return { model, created, includeUsage: options?.include_usage === true };
}

function calledIds({ messages }: ChatBody): readonly string[] {
  return messages.flatMap(({ tool_calls: calls, content }) => [
    ...(calls ?? []).flatMap(({ id }) => id ?? []),
    ...(Array.isArray(content) ? content.flatMap(callIdOf) : []),
  ]);
}

function callIdOf(part: { readonly type: string; readonly id?: unknown }): readonly string[] {
  return part.type === 'tool_use' && typeof part.id === 'string' ? [part.id] : [];
}

/** The request under the name of the model that answered. */
function answered(request: ChatRequest, reply: ModelReply, context: FormatContext): ChatRequest {
  const model = answeringModel(request.model, reply, context);
  return model === request.model ? request : { ...request, model };
}
