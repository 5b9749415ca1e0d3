import { randomUUID } from 'node:crypto';
import type { ModelReply, ReplyEncoder } from '@gw2api/gateway/plugin';
import { answeringModel, defineFormat, type FormatContext } from '@gw2api/gateway/plugin/format';
import type { ResponsesRequest } from './answer.js';
import { askedBy, isTriggered } from './compaction/asked.js';
import { responsesBody, type InputItem, type ResponsesBody } from './body.js';
import { codexOptions, failingInStream, isCodex } from './codex.js';
import { compactedResponse, isCompaction, userMessages } from './compaction/compaction.js';
import { inputItems } from './input.js';
import { keepLast, storeResponse } from './stored/keep-response.js';
import { responsesReply } from './reply.js';
import { decodeResponses } from './request.js';
import { routes } from './routes.js';
import { ResponseStream, responsesStream } from './stream.js';
import { toolNames } from './tools.js';
import { openaiError } from '../shared/answer/error.js';
import { withPrivateUser } from '../shared/private-user.js';
import { relay } from '../shared/answer/relay.js';
import { sseComment } from '../shared/answer/sse.js';

/** Responses. */
export default defineFormat({
  name: 'responses',
  api: 1,
  options: codexOptions,
  routes,
  body: responsesBody,
  async decode(body, context) {
    const decoded = await decodeResponses(askedBy(body, context), context);
    return withPrivateUser(isCodex(context) ? failingInStream(decoded) : decoded, context);
  },
  count: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  async encoder(body, context) {
    const asked = askedBy(body, context) as ResponsesBody; // checked by `decode`
    if (isCompaction(context)) return compactionEncoder(asked, context);
    return encoderOf(await responsesRequest(asked, context), context);
  },
  error: openaiError,
});

function encoderOf(request: ResponsesRequest, context: FormatContext): ReplyEncoder {
  let stream: ResponseStream | undefined;
  return {
    keepAlive: sseComment,
    longSilence: () => stream?.inProgress() ?? '',
    whole: (reply) => responsesReply(reply.events, answered(request, reply, context)),
    stream: (reply) => {
      stream = new ResponseStream(answered(request, reply, context));
      return relay(reply.events, stream);
    },
  };
}

/** Encoder of a compaction, which is never streamed. */
async function compactionEncoder(body: ResponsesBody, context: FormatContext): Promise<ReplyEncoder> {
  const input = await inputItems(body, context);
  const request = await responsesRequest(body, context);
  return {
    whole: async ({ events }) => compactedResponse(await responsesReply(events, request), input),
    stream: ({ events }) => responsesStream(events, request),
  };
}

/** The request under the name of the model that answered. */
function answered(request: ResponsesRequest, reply: ModelReply, context: FormatContext): ResponsesRequest {
  const asked = String(request.body['model']);
  const model = answeringModel(asked, reply, context);
  return model === asked ? request : { ...request, body: { ...request.body, model } };
}

async function responsesRequest(body: ResponsesBody, context: FormatContext): Promise<ResponsesRequest> {
  const input = await inputItems(body, context);
  const id = `resp_${randomUUID().replaceAll('-', '')}`;
  const isSummary = isTriggered(body);
  return {
    id,
    body: { ...body },
    include: new Set(isSummary ? ['reasoning.encrypted_content'] : body.include),
    tools: toolNames(body, input),
    calledIds: calledIds(input),
    now: () => context.now(),
    isCompaction: isSummary,
    isCodex: isCodex(context),
    keep: (body.store === false ? keepLast : storeResponse)(
      id,
      isSummary ? userMessages(input) : input,
      context,
    ),
  };
}

function calledIds(items: readonly InputItem[]): readonly string[] {
  return items.flatMap(({ type, call_id: id }) => (isCall(type) && typeof id === 'string' ? id : []));
}

function isCall(type: unknown): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}
