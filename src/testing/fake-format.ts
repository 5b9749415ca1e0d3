import {
  foldMessage,
  toGatewayError,
  type Decoded,
  type Format,
  type MessagesRequest,
  type ModelReply,
  type WireFormat,
} from '../plugin/index.js';

/** Fake format: Messages without validation. `decoded` overrides the result of `decode`. */
export function fakeFormat(name: WireFormat, decoded: Partial<Decoded> = {}): Format {
  return {
    name,
    decode(body) {
      const { stream = false, ...request } = body as MessagesRequest; // a test's own
      return { request, stream, dropped: [], interceptors: [], ...decoded };
    },
    encoder: () => ({
      keepAlive: ': keep-alive\n\n',
      whole: (reply) => foldMessage(reply.events),
      stream: writeEvents,
    }),
  };
}

async function* writeEvents({ events }: ModelReply): AsyncGenerator<string> {
  try {
    for await (const batch of events)
      yield batch.map(({ type, data }) => `event: ${type}\ndata: ${data}\n\n`).join('');
  } catch (error) {
    yield `event: error\ndata: ${JSON.stringify(toGatewayError(error))}\n\n`;
    throw error;
  }
}
