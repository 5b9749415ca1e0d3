import type { Format, FormatContext } from '../../plugin/index.js';
import { withPrivateUser } from '../private-user.js';
import { sseComment } from '../sse.js';
import type { CompletionsRequest } from './choice.js';
import { completionsReply } from './reply.js';
import { type CompletionsBody, decodeCompletions, promptsOf } from './request.js';
import { completionsStream } from './stream.js';

/** The older Completions: a prompt in, a text out. */
export const completions: Format = {
  name: 'completions',
  decode: (body, context) => withPrivateUser(decodeCompletions(body, context), context),
  encoder(body, context) {
    const request = completionsRequest(body as CompletionsBody, context); // decode has accepted it
    return {
      keepAlive: sseComment,
      whole: ({ events }) => completionsReply(events, request),
      stream: ({ events }) => completionsStream(events, request),
    };
  },
};

/** Choices are ordered by prompt: all `n` of the first one come first. */
function completionsRequest(body: CompletionsBody, context: FormatContext): CompletionsRequest {
  const prompts = promptsOf(body);
  const n = body.n ?? 1;
  return {
    model: body.model,
    created: Math.floor(context.now() / 1000),
    count: prompts.length * n,
    echo: (choice) => (body.echo ? (prompts[Math.floor(choice / n)] ?? '') : ''),
    includeUsage: body.stream_options?.include_usage === true,
  };
}
