import { randomUUID } from 'node:crypto';
import type { Format, FormatContext } from '../../plugin/index.js';
import { sseComment } from '../sse.js';
import type { ResponseObject, ResponsesRequest } from './answer.js';
import { responsesReply } from './reply.js';
import { decodeResponses, inputItems, type ResponsesBody, toolNames } from './request.js';
import { responsesStream } from './stream.js';

/** Responses. */
export const responses: Format = {
  name: 'responses',
  decode: decodeResponses,
  encoder(body, context) {
    const request = responsesRequest(body as ResponsesBody, context); // decode has accepted it
    return {
      keepAlive: sseComment,
      whole: ({ events }) => responsesReply(events, request),
      stream: ({ events }) => responsesStream(events, request),
    };
  },
};

function responsesRequest(body: ResponsesBody, context: FormatContext): ResponsesRequest {
  const id = `resp_${randomUUID().replaceAll('-', '')}`;
  return {
    id,
    body: { ...body },
    include: body.include ?? [],
    tools: toolNames(body),
    now: () => context.now(),
    keep: async (response) => {
      if (body.store !== false) await keep(response, id, body, context);
    },
  };
}

const lifetimeMs = 30 * 24 * 60 * 60 * 1000;

/** A response that cannot be stored is still an answer. */
async function keep(
  response: ResponseObject,
  id: string,
  body: ResponsesBody,
  context: FormatContext,
): Promise<void> {
  try {
    await context.store.responses.put({
      id,
      owner: context.caller.keyId,
      input: await inputItems(body, context),
      response,
      expiresAtMs: context.now() + lifetimeMs,
    });
  } catch (error) {
    context.log.error({ err: error, response: id }, 'A response could not be stored.');
  }
}
