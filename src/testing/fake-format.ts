import { defineFormat, sseEvent, type Decoded } from '../plugin/format/index.js';
import {
  foldMessage,
  toGatewayError,
  type Format,
  type MessagesRequest,
  type ModelReply,
} from '../plugin/index.js';

/** Fake format: Messages without validation. `decoded` overrides the result of `decode`. */
export function fakeFormat(name: string, decoded: Partial<Decoded> = {}): Format {
  return defineFormat({
    name,
    routes: [],
    body: {},
    keepsBytes: name === 'messages',
    decode(body) {
      const { stream = false, ...request } = body as MessagesRequest; // given by the test
      return { request, stream, dropped: [], ...decoded };
    },
    encoder: () => ({
      keepAlive: ': keep-alive\n\n',
      whole: (reply) => foldMessage(reply.events),
      stream: writeEvents,
    }),
  });
}

async function* writeEvents({ events }: ModelReply): AsyncGenerator<string> {
  try {
    for await (const batch of events) yield batch.map(({ type, data }) => sseEvent(type, data)).join('');
  } catch (error) {
    yield sseEvent('error', JSON.stringify(toGatewayError(error)));
    throw error;
  }
}
