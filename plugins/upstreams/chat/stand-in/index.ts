import { EventSourceParserStream } from 'eventsource-parser/stream';
import { jsonFields } from 'gw2api/plugin/upstream';
import { fieldsOf } from '../../shared/fields.js';
import { ChunkWriter } from './chunks.js';
import { asMessages } from './messages-request.js';

/** Answers as a Chat server does, with what a service of the Messages API says. */
export async function standIn(
  request: Request,
  messages: (request: Request) => Promise<Response>,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith('/models')) return messages(new Request('http://dry-run/v1/models'));
  const body = JSON.stringify(asMessages(jsonFields(await request.text())));
  const answer = await messages(new Request('http://dry-run/v1/messages', { method: 'POST', body }));
  if (answer.status >= 400 || !answer.body) return refused(answer);
  const writer = new ChunkWriter();
  const chunks = answer.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(
      new TransformStream<{ readonly data: string }, string>({
        transform({ data }, out) {
          for (const chunk of writer.write(jsonFields(data))) out.enqueue(`data: ${chunk}\n\n`);
        },
      }),
    )
    .pipeThrough(new TextEncoderStream());
  return new Response(chunks, { headers: { 'content-type': 'text/event-stream' } });
}

async function refused(answer: Response): Promise<Response> {
  const { type, message } = fieldsOf(jsonFields(await answer.text())['error']);
  const retryAfter = answer.headers.get('retry-after');
  return Response.json(
    { error: { message, type, code: type } },
    {
      status: answer.status === 529 ? 503 : answer.status, // a status of the Messages API alone
      headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    },
  );
}
