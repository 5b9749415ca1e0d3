import { EventSourceParserStream } from 'eventsource-parser/stream';
import { jsonFields } from '@gw2api/gateway/plugin/upstream';
import { exceptionOfType } from './exceptions.js';
import { encodeFrame } from './frames.js';

type Ask = (request: Request) => Promise<Response>;
type Json = Readonly<Record<string, unknown>>;

/** Answers as Bedrock does, from the answers of a Messages service. */
export async function standIn(request: Request, messages: Ask): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, name = '', action] = /\/model\/([^/]+)\/([a-z-]+)$/.exec(pathname) ?? [];
  const model = decodeURIComponent(name);
  const text = await request.text();
  if (action === 'count-tokens')
    return countTokens(await messages(asMessages(model, invokedBody(text), 'count')));
  const answer = await messages(asMessages(model, jsonFields(text), 'stream'));
  if (answer.status >= 400 || !answer.body) return refused(answer);
  const frames = answer.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(new TransformStream({ transform: ({ data }, out) => out.enqueue(frameOf(data)) }));
  return new Response(frames, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } });
}

/** Body of InvokeModel in one of CountTokens. */
function invokedBody(text: string): Json {
  const { input } = jsonFields(text);
  const { invokeModel } = Object(input) as { invokeModel?: unknown }; // any object has properties
  const { body } = Object(invokeModel) as { body?: unknown }; // likewise
  return jsonFields(Buffer.from(typeof body === 'string' ? body : '', 'base64').toString());
}

/** Request of the Messages API, whose headers come from the body here. */
function asMessages(model: string, body: Json, kind: 'stream' | 'count'): Request {
  const { anthropic_version: _, anthropic_beta: betas, ...rest } = body;
  const isCount = kind === 'count';
  return new Request(`http://dry-run/v1/messages${isCount ? '/count_tokens' : ''}`, {
    method: 'POST',
    headers: Array.isArray(betas) ? { 'anthropic-beta': betas.join(',') } : {},
    body: JSON.stringify({ model, ...rest, ...(!isCount && { stream: true }) }),
  });
}

async function countTokens(answer: Response): Promise<Response> {
  if (answer.status >= 400) return refused(answer);
  const { input_tokens: inputTokens } = jsonFields(await answer.text());
  return Response.json({ inputTokens });
}

async function refused(answer: Response): Promise<Response> {
  const { type, message } = errorIn(await answer.text());
  const retryAfter = answer.headers.get('retry-after');
  return Response.json(
    { message },
    {
      status: answer.status === 529 ? 503 : answer.status, // a status of the Messages API alone
      headers: {
        'x-amzn-errortype': exceptionOfType(type),
        ...(retryAfter !== null && { 'retry-after': retryAfter }),
      },
    },
  );
}

/** Frame of an event; an error is an exception here. */
function frameOf(event: string): Uint8Array {
  if (jsonFields(event)['type'] === 'error') {
    const { type, message } = errorIn(event);
    const exception = exceptionOfType(type).replace(/^./, (first) => first.toLowerCase());
    const headers = { ':message-type': 'exception', ':exception-type': exception };
    return encodeFrame({ headers, payload: Buffer.from(JSON.stringify({ message })) });
  }
  const headers = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' };
  const bytes = Buffer.from(event).toString('base64');
  return encodeFrame({ headers, payload: Buffer.from(JSON.stringify({ bytes })) });
}

function errorIn(text: string): { readonly type: string; readonly message: string } {
  const { type, message } = Object(jsonFields(text)['error']) as Json; // any object has properties
  return { type: String(type), message: String(message) };
}
