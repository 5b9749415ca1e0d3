import { openaiStandIn } from '../../shared/openai/openai-stand-in.js';
import { asMessages } from './messages-request.js';
import { ResponseWriter } from './response-writer.js';

/** Answers as a server of the Responses API does, with what a service of the Messages API says. */
export const standIn = openaiStandIn({
  asMessages,
  openWriter() {
    const writer = new ResponseWriter();
    return (event) => writer.write(event);
  },
});
