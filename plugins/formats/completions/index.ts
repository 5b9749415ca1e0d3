import { Type, type ModelReply } from '@gw2api/gateway/plugin';
import { answeringModel, defineFormat, type FormatContext } from '@gw2api/gateway/plugin/format';
import type { CompletionsRequest } from './choice.js';
import { completionsReply } from './reply.js';
import {
  type CompletionsBody,
  completionsBody,
  decodeCompletions,
  maxChoices,
  promptsOf,
} from './request.js';
import { completionsStream } from './stream.js';
import { openaiError } from '../shared/answer/error.js';
import { withPrivateUser } from '../shared/private-user.js';
import { sseComment } from '../shared/answer/sse.js';

const Completion = Type.Object({
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Integer({ minimum: 0 }),
  model: Type.String(),
  choices: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  usage: Type.Record(Type.String(), Type.Unknown()),
});

/** Body as the API's documentation describes it; `decode` reports the prompts that it cannot read. */
const describedBody = Type.Object({
  ...completionsBody.properties,
  prompt: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: maxChoices })]),
});

/** The older Completions: a prompt in, a text out. */
export default defineFormat({
  name: 'completions',
  api: 1,
  routes: [
    {
      method: 'POST',
      path: '{/v1}/completions',
      operation: 'generate',
      openapi: { summary: 'A Completions request.', answers: { 200: Completion } },
    },
  ],
  body: describedBody,
  decode: (body, context) => withPrivateUser(decodeCompletions(body), context),
  encoder(body, context) {
    const request = completionsRequest(body as CompletionsBody, context); // checked by `decode`
    return {
      keepAlive: sseComment,
      whole: (reply) => completionsReply(reply.events, answered(request, reply, context)),
      stream: (reply) => completionsStream(reply.events, answered(request, reply, context)),
    };
  },
  error: openaiError,
});

/** Decodes a body to its request, with choices ordered by prompt: all `n` of the first one come first. */
function completionsRequest(body: CompletionsBody, context: FormatContext): CompletionsRequest {
  const prompts = promptsOf(body);
  const n = body.n ?? 1;
  return {
    model: body.model,
    created: Math.floor(context.now() / 1000),
    count: prompts.length * n,
    echo: (choice) => (body.echo ? (prompts[Math.floor(choice / n)] ?? '') : ''),
    includeUsage: body.stream_options?.include_usage === true,
  };
}

/** The request under the name of the model that answered. */
function answered(
  request: CompletionsRequest,
  reply: ModelReply,
  context: FormatContext,
): CompletionsRequest {
  const model = answeringModel(request.model, reply, context);
  return model === request.model ? request : { ...request, model };
}
