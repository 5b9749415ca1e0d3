import { randomUUID } from 'node:crypto';
import type { Format, FormatContext } from '../../plugin/index.js';
import { withPrivateUser } from '../private-user.js';
import { sseComment } from '../sse.js';
import type { InputItem } from './body.js';
import type { ResponsesRequest } from './answer.js';
import { keeper } from './keeper.js';
import { responsesReply } from './reply.js';
import { decodeResponses, inputItems, type ResponsesBody, toolNames } from './request.js';
import { responsesStream } from './stream.js';

/** Responses. */
export const responses: Format = {
  name: 'responses',
  decode: async (body, context) => withPrivateUser(await decodeResponses(body, context), context),
  count: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  async encoder(body, context) {
    const request = await responsesRequest(body as ResponsesBody, context); // decode has accepted it
    return {
      keepAlive: sseComment,
      whole: ({ events }) => responsesReply(events, request),
      stream: ({ events }) => responsesStream(events, request),
    };
  },
};

async function responsesRequest(body: ResponsesBody, context: FormatContext): Promise<ResponsesRequest> {
  const input = await inputItems(body, context);
  const id = `resp_${randomUUID().replaceAll('-', '')}`;
  return {
    id,
    body: { ...body },
    include: new Set(body.include),
    tools: toolNames(body, input),
    calledIds: calledIds(input),
    now: () => context.now(),
    keep: body.store === false ? nowhere : keeper(id, input, context),
  };
}

function calledIds(items: readonly InputItem[]): readonly string[] {
  return items.flatMap(({ type, call_id: id }) => (isCall(type) && typeof id === 'string' ? id : []));
}

function isCall(type: unknown): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

async function nowhere(): Promise<void> {}
