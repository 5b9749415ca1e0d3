import type { Format, MessagesRequest } from '../../plugin/index.js';
import { sseEvent } from '../sse.js';
import { messagesReply } from './reply.js';
import { decodeMessages } from './request.js';
import { messagesStream } from './stream.js';

/** Messages: what the upstream speaks, so that what no stage has changed leaves as it came. */
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
