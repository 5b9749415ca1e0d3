import type { Format, MessagesRequest } from '../../plugin/index.js';
import { sseEvent } from '../sse.js';
import { messagesReply } from './reply.js';
import { decodeMessages } from './request.js';
import { messagesStream } from './stream.js';

/** Messages, the upstream's own format: anything that no stage has changed is passed on byte for byte. */
export const messages: Format = {
  name: 'messages',
  decode: decodeMessages,
  encoder(body) {
    const { model } = body as MessagesRequest; // decode has accepted it
    return {
      keepAlive: sseEvent('ping', '{"type":"ping"}'),
      whole: ({ events }) => messagesReply(events, model),
      stream: ({ events }) => messagesStream(events, model),
    };
  },
};
