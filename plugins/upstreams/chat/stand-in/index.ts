import { openaiStandIn } from '../../shared/openai/openai-stand-in.js';
import { ChunkWriter } from './chunks.js';
import { asMessages } from './messages-request.js';

/** Answers as a Chat server does, with what a service of the Messages API says. */
export const standIn = openaiStandIn({
  asMessages,
  openWriter() {
    const writer = new ChunkWriter();
    return (event) => writer.write(event);
  },
});
