import {
  foldMessage,
  Type,
  type MessagesRequest,
  type MessagesResponse,
  type ModelEvents,
} from '@gw2api/gateway/plugin';
import { answeringModel, defineFormat, sseEvent, type Decoded } from '@gw2api/gateway/plugin/format';
import { messagesErrorBody } from './error.js';
import { messagesStream } from './stream.js';
import { bodyCheck, withoutNoLimits } from '../shared/body.js';

/** Fields of a Messages body that the gateway itself reads; the upstream validates the rest. */
const messagesBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Type.Unknown()),
});

const Message = Type.Object({
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  stop_reason: Type.Union([Type.String(), Type.Null()]),
  usage: Type.Record(Type.String(), Type.Unknown()),
});

/** Messages, the upstream's own format: anything that no stage has changed is passed on byte for byte. */
export default defineFormat({
  name: 'messages',
  api: 1,
  routes: [
    {
      method: 'POST',
      path: '{/v1}/messages',
      operation: 'generate',
      openapi: { summary: 'A Messages request.', answers: { 200: Message } },
    },
    {
      method: 'POST',
      path: '{/v1}/messages/count_tokens',
      operation: 'count-tokens',
      openapi: { summary: 'A token count; for OAuth accounts the usage windows.' },
    },
  ],
  body: messagesBody,
  keepsBytes: true,
  decode: decodeMessages,
  encoder(body, context) {
    const { model } = body as MessagesRequest; // checked by `decode`
    return {
      keepAlive: sseEvent('ping', '{"type":"ping"}'),
      whole: (reply) => messagesReply(reply.events, answeringModel(model, reply, context)),
      stream: (reply) => messagesStream(reply.events, answeringModel(model, reply, context)),
    };
  },
  error: messagesErrorBody,
  requestIdHeader: 'request-id',
});

/** The whole message, under the model's name that the caller used. */
async function messagesReply(events: ModelEvents, model: string): Promise<MessagesResponse> {
  return { ...(await foldMessage(events)), model };
}

const check = bodyCheck(messagesBody);

/**
 * Decodes a Messages body without a copy; the upstream validates its content. Throws `invalid_request` if it
 * is not an object or has no `model` or `messages`.
 */
export function decodeMessages(body: unknown): Decoded {
  const request = check(withoutNoLimits(body)) as MessagesRequest; // only the fields that the gateway reads are checked
  const { output_format: format } = request as { readonly output_format?: unknown };
  const hasOwnName = format !== undefined && format !== null;
  return { request, stream: request.stream === true, dropped: [], ...(hasOwnName && { pathOf: betaPath }) };
}

/** Path of the output format as the beta of structured outputs has it. */
function betaPath(path: string): string {
  return path.replace(/^output_config\.format\b/, 'output_format');
}
