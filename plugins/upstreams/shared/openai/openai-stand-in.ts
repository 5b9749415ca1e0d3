import { EventSourceParserStream } from 'eventsource-parser/stream';
import { jsonFields } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, type Fields } from '../fields.js';

type Ask = (request: Request) => Promise<Response>;

/** One API of OpenAI's, in terms of the Messages API. */
interface OpenaiApi {
  /** Request of the Messages API for one of this API. */
  readonly asMessages: (body: Fields) => object;
  /** Function that gives the texts of this API for each event of one answer. */
  readonly openWriter: () => (event: Fields) => readonly string[];
}

/** Answers as a server of this API does, from the answers of a Messages service. */
export function openaiStandIn({ asMessages, openWriter }: OpenaiApi) {
  return async (request: Request, messages: Ask): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/models')) return messages(new Request('http://dry-run/v1/models'));
    const body = JSON.stringify(asMessages(jsonFields(await request.text())));
    const answer = await messages(new Request('http://dry-run/v1/messages', { method: 'POST', body }));
    if (answer.status >= 400 || !answer.body) return refused(answer);
    const write = openWriter();
    const events = answer.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .pipeThrough(
        new TransformStream<{ readonly data: string }, string>({
          transform({ data }, out) {
            for (const text of write(jsonFields(data))) out.enqueue(`data: ${text}\n\n`);
          },
        }),
      )
      .pipeThrough(new TextEncoderStream());
    return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
  };
}

async function refused(answer: Response): Promise<Response> {
  const error = openaiError(fieldsOf(jsonFields(await answer.text())['error']));
  const retryAfter = answer.headers.get('retry-after');
  return Response.json(
    { error },
    {
      status: answer.status === 529 ? 503 : answer.status, // a status of the Messages API alone
      headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    },
  );
}

/** Error of the Messages API as one of OpenAI's. */
export function openaiError({ type, message }: Fields): object {
  return { message, type, code: type };
}

/** Tokens as OpenAI counts them: with cached tokens as part of the input. */
export function openaiTokens(usage: Fields) {
  const cached = numberOf(usage['cache_read_input_tokens']);
  const written = numberOf(usage['cache_creation_input_tokens']);
  const input = numberOf(usage['input_tokens']) + cached + written;
  const output = numberOf(usage['output_tokens']);
  return { input, cached, output, total: input + output };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
