import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { encodeFrame } from '#plugins/upstreams/bedrock/frames.js';
import { answerEvents } from '../../whole/slots/upstreams/recorder.js';
import type { Kit } from '../../engine/transport/upstream-kit.js';

/** Request as it reached an upstream. */
export interface Sent {
  /** Header `anthropic-beta`. */
  readonly beta: string;
  readonly raw: string;
  readonly body: unknown;
}

export interface Recorder {
  readonly url: string;
  /** Calls since the last time, by the first name of their paths. */
  take(name: string): readonly Sent[];
}

/** Starts a server that takes the calls of every upstream kind, and answers each with a short stream of its own form. */
export async function startRecorder(kit: Kit): Promise<Recorder> {
  const sent = new Map<string, Sent[]>();
  const url = await kit.serve(async (request: IncomingMessage, response: ServerResponse) => {
    const raw = await text(request);
    const answer = answers.find(({ path }) => path.test(request.url ?? ''));
    if (request.method !== 'POST' || !answer) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const [, name = ''] = (request.url ?? '').split('/');
    const beta = String(request.headers['anthropic-beta'] ?? '');
    sent.set(name, [...(sent.get(name) ?? []), { beta, raw, body: JSON.parse(raw) }]);
    response.writeHead(200, { 'content-type': answer.type }).end(answer.bytes);
  });
  return {
    url,
    take(name) {
      const calls = sent.get(name) ?? [];
      sent.delete(name);
      return calls;
    },
  };
}

const usage = { input_tokens: 5, output_tokens: 1 };

const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };

const chunks = [
  { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi.' }, finish_reason: null }] },
  { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { ...chunk, choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
];

const part = { type: 'output_text', text: 'Hi.', annotations: [] };
const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] };
const begun = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };

const responses = [
  { type: 'response.created', response: begun },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
  { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
  { type: 'response.output_text.delta', ...at, delta: 'Hi.' },
  { type: 'response.output_text.done', ...at, text: 'Hi.' },
  { type: 'response.content_part.done', ...at, part },
  { type: 'response.output_item.done', output_index: 0, item },
  {
    type: 'response.completed',
    response: { ...begun, status: 'completed', output: [item], usage: { ...usage, total_tokens: 6 } },
  },
];

function named(events: readonly { readonly type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function frameOf(event: object): Buffer {
  const payload = JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') });
  return encodeFrame({
    headers: { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    payload: Buffer.from(payload),
  });
}

const stream = 'text/event-stream';

/** Answers by the path of the call. */
const answers: readonly { readonly path: RegExp; readonly type: string; readonly bytes: string | Buffer }[] =
  [
    { path: /\/v1\/messages\b|:streamRawPredict\b/, type: stream, bytes: named(answerEvents) },
    {
      path: /\/invoke-with-response-stream\b/,
      type: 'application/vnd.amazon.eventstream',
      bytes: Buffer.concat(answerEvents.map(frameOf)),
    },
    {
      path: /\/chat\/completions\b/,
      type: stream,
      bytes: `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`,
    },
    { path: /\/responses\b/, type: stream, bytes: named(responses) },
  ];
